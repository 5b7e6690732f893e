"""The lesson of an exhibit, step by step; Next sets the sliders of the step it goes to."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.exhibits.lesson import Step, read_lesson

Take = Callable[[Step], None]
SPECIAL, PREFIXED = r"([\\_*<>\[\]`~|!#])", r"\\\1"
STYLE = "code { color: inherit; background: rgba(128, 128, 128, 0.14); padding: 0 3px; border-radius: 3px; }"
TITLE = "Lesson: what to try, in two minutes"


def guard_formulas(text: str) -> str:
    """The same Markdown with what stands between $$ escaped, so that Markdown leaves it to the formula's renderer."""
    return re.sub(
        r"\$\$(.+?)\$\$", lambda found: f"$${re.sub(SPECIAL, PREFIXED, found[1])}$$", text, flags=re.DOTALL
    )


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
        self._text = pn.pane.Markdown("", sizing_mode="stretch_width", margin=(0, 12), stylesheets=[STYLE])
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
        text = guard_formulas(step.text)
        self._text.object = f"### {step.title}\n\n{text}" if step.title else text
        self._place.object = f"<span role='status'>{self._at + 1} of {len(self.steps)}</span>"
        self.back.disabled = self._at == 0
        self.next.disabled = self._at == len(self.steps) - 1

    def __panel__(self) -> Any:
        if not self.steps:
            return pn.Column(visible=False)
        buttons = [pn.Row(self.back, self.next, self._place, margin=0)] if len(self.steps) > 1 else []
        lesson = pn.Column(*buttons, self._text, sizing_mode="stretch_width", margin=0)
        # An accordion opens wherever its head is clicked, a card only at its arrow.
        return pmui.Accordion(
            (TITLE, lesson), title_variant="h6", sizing_mode="stretch_width", margin=(0, 0, 8, 0)
        )
