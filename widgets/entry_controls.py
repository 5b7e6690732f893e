"""The control of a parameter that holds several numbers: bars for a profile, a simplex for a mixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from panel.viewable import Viewer

from explorer.exhibits import Exhibit, Profile
from widgets.bar_editor import BarEditor
from widgets.simplex_editor import SimplexEditor


class EntriesControl(Viewer):
    """An editor bound to one parameter of an exhibit.

    Args:
        exhibit: whose numbers they are.
        name: the parameter's name.
        moved: called with no argument after the exhibit has the new entries.
    """

    def __init__(self, exhibit: Exhibit, name: str, moved: Callable[[], None], **params: Any) -> None:
        super().__init__(**params)
        self.exhibit, self.name_, self.moved = exhibit, name, moved
        entries: Any = exhibit.param[name]
        self._showing = False
        about: dict[str, Any] = {"label": entries.label, **self._now()}
        if isinstance(entries, Profile):
            low, high = entries.bounds
            self.editor: Any = BarEditor(
                low=low,
                high=high,
                unit=entries.unit,
                scale=entries.scale,
                hold_mean=entries.hold_mean or None,  # otherwise no such switch
                **about,
            )
        else:
            self.editor = SimplexEditor(**about)
        self.editor.param.watch(self._edited, "value")

    def _now(self) -> dict[str, Any]:
        return {
            "value": tuple(getattr(self.exhibit, self.name_)),
            "names": list(self.exhibit.entry_names(self.name_)),
            "presets": {name: tuple(one) for name, one in self.exhibit.entry_presets(self.name_).items()},
        }

    def _edited(self, event: Any) -> None:
        if self._showing:
            return
        # What the exhibit refuses, the editor takes back and tells.
        self.exhibit.restore({self.name_: event.new}, trusted=False)
        self.moved()

    def sync(self) -> None:
        """Take over the exhibit's entries; what already shows them is left alone."""
        now = {name: one for name, one in self._now().items() if getattr(self.editor, name) != one}
        if now:
            self._showing = True
            try:
                self.editor.param.update(**now)
            finally:
                self._showing = False

    def __panel__(self) -> Any:
        return self.editor
