"""The lesson of an exhibit, step by step; Next sets the sliders of the step it goes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.exhibits.lesson import Step, read_lesson

Take = Callable[[Step], None]


class LessonCard(Viewer):
    """One step at a time, closed at first.

    Args:
        text: the lesson as Markdown.
        take: called with the step that Next or Back went to.
    """

    def __init__(self, text: str, take: Take, **params: Any) -> None:
        super().__init__(**params)
        self.steps = read_lesson(text)
        self._take, self._at = take, 0
        self._text = pn.pane.Markdown("", sizing_mode="stretch_width", margin=(0, 12))
        self._place = pn.pane.HTML("", sizing_mode="stretch_width", margin=(12, 8))
        self.back = pmui.Button(label="Back", variant="outlined", size="small", margin=(8, 4, 4, 12))
        self.next = pmui.Button(label="Next", variant="contained", size="small", margin=(8, 4))
        self.back.on_click(lambda _: self.go(self._at - 1))
        self.next.on_click(lambda _: self.go(self._at + 1))
        if self.steps:
            self._show()

    def go(self, index: int) -> None:
        """Show the step `index`, counted from 0, and set what it sets."""
        if 0 <= index < len(self.steps):
            self._at = index
            self._show()
            self._take(self.steps[index])

    def _show(self) -> None:
        step = self.steps[self._at]
        self._text.object = f"### {step.title}\n\n{step.text}" if step.title else step.text
        self._place.object = f"<span role='status'>{self._at + 1} of {len(self.steps)}</span>"
        self.back.disabled = self._at == 0
        self.next.disabled = self._at == len(self.steps) - 1

    def __panel__(self) -> Any:
        if not self.steps:
            return pn.Column(visible=False)
        buttons = [pn.Row(self.back, self.next, self._place, margin=0)] if len(self.steps) > 1 else []
        return pmui.Card(
            *buttons,
            self._text,
            title="Lesson: what to try, in two minutes",
            collapsed=True,
            sizing_mode="stretch_width",
            margin=(0, 0, 8, 0),
        )
