"""The weights of a mixture: linked bars, and a triangle where there are three."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import param

from explorer.errors import BadInput
from explorer.simplex import check_weights
from widgets.editor import Editor, Vector, numbers, script


class Weights(Vector):
    """Weights that sum to one, kept as a tuple of floats."""

    def __set__(self, obj: Any, val: Any) -> None:
        if isinstance(val, Iterable):
            val = check_weights(numbers(val))
        super().__set__(obj, val)


class SimplexEditor(Editor):
    """The weights of 2 to 8 parts of a mixture; they always sum to one.

    Drag a bar, or type a weight: 0.3, 30 %, 3/10. The others give or take in proportion to what they hold; locked
    ones stay. Arrow keys move a bar by 0.01, Page Up and Page Down (or Shift) by 0.1, Home and End to none and to all
    that is free.

    Three weights also have a triangle with a point to drag. Its keys: Left, Right and Up move the point by 0.01
    towards the left, right and upper corner (entries 1, 2, 3), Down away from the upper one; with Shift by 0.1.

    A preset sets all weights, locked or not.

    Usage, in an app or a notebook (there after `pn.extension(inline=True)`, which needs no network)::

        editor = SimplexEditor(value=(0.5, 0.3, 0.2), names=("web", "code", "books"), locked=["books"],
                               marks={"optimum": (0.4, 0.4, 0.2)})
        editor.param.watch(lambda event: print(event.new), "value")
        editor                      # or pn.ipywidget(editor) among ipywidgets
        editor.value = (1 / 3, 1 / 3, 1 / 3)

    A watcher that raises BadInput refuses the change: the weights go back, and its sentence stands under them.

    Raises:
        BadInput: if the parameters do not go together; the old ones then stay.
    """

    value = Weights(default=(0.5, 0.5), doc="One weight an entry, a tuple of floats that sum to one.")
    locked: Any = param.Parameter(
        default=(),
        doc="Names or indices of the entries that stay; names, as a list, once a person changed it.",
    )
    marks: Any = param.Parameter(default={}, doc="Points drawn hollow, e.g. the optimum: name to weights.")

    _rename: ClassVar[Mapping[str, str | None]] = {"locked": None, "marks": None}
    _drawn: ClassVar[tuple[str, ...]] = (*Editor._drawn, "locked", "marks")
    _esm = script("simplex_editor.js")

    def locked_entries(self) -> tuple[int, ...]:
        """Indices of the locked entries. Raises BadInput if one does not exist."""
        names = self.entry_names()
        found = set()
        for entry in self.locked:
            if isinstance(entry, int) and 0 <= entry < len(names):
                found.add(int(entry))
            elif isinstance(entry, str) and entry in names:
                found.add(names.index(entry))
            else:
                raise BadInput(f"There is no entry {entry!r} to lock. Choose from: {', '.join(names)}.")
        return tuple(sorted(found))

    def _check(self) -> None:
        names = self.entry_names()
        if len(set(names)) < len(names):
            raise BadInput(f"Two entries have the same name: {', '.join(names)}. Give each its own.")
        self.locked_entries()
        for kind, rows in (("Preset", self.presets), ("Mark", self.marks)):
            for name, weights in rows.items():
                try:
                    check_weights(weights, names)
                except BadInput as error:
                    raise BadInput(f"{kind} {name!r}: {error}") from None

    def _read(self, said: Mapping[str, Any]) -> dict[str, Any]:
        names = self.entry_names()
        value = check_weights(numbers(said.get("value", ())), names)
        locked = said.get("locked", [])
        if not isinstance(locked, list) or not all(
            type(index) is int and 0 <= index < len(names) for index in locked
        ):
            raise BadInput(f"{locked!r} is not a list of entries to lock.")
        changes: dict[str, Any] = {"value": value}
        if set(locked) != set(self.locked_entries()):
            changes["locked"] = [names[index] for index in sorted(set(locked))]
        return changes

    def _face(self) -> dict[str, Any]:
        face = {**super()._face(), "locked": list(self.locked_entries())}
        face["presets"] = {str(name): list(check_weights(row)) for name, row in self.presets.items()}
        face["marks"] = {str(name): list(check_weights(row)) for name, row in self.marks.items()}
        return face
