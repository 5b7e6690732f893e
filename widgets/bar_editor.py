"""A draggable bar for each of several numbers: rates by layer, coefficients by domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import param

from explorer.errors import BadInput
from widgets.editor import Editor, Vector, numbers, script

MOST = 64  # bars


class BarEditor(Editor):
    """Several numbers within the same bounds, one bar each.

    Drag a bar, or across bars to paint them. With the keyboard, Left and Right choose a bar, Up and Down move it
    by one step, Page Up and Page Down (or Shift) by ten, Home and End to the bounds. The chosen bar's number can be
    typed: 0.2, 20 %, 1/5. Every move is sent to Python at once.

    Usage, in an app or a notebook (there after `pn.extension(inline=True)`, which needs no network)::

        editor = BarEditor(value=(0.1, 0.1, 0.1), high=0.5, label="dropout rate", hold_mean=False)
        editor.param.watch(lambda event: print(event.new), "value")
        editor                      # or pn.ipywidget(editor) among ipywidgets
        editor.value = (0.3, 0.0, 0.0)

    A watcher that raises BadInput refuses the change: the bars go back, and its sentence stands under them.

    Raises:
        BadInput: if the parameters do not go together; the old ones then stay.
    """

    value = Vector(default=(0.5, 0.5), doc="One number a bar; 1 to 64 of them, a tuple of floats.")
    low = param.Number(default=0.0, doc="The lower bound of every number.")
    high = param.Number(default=1.0, doc="The upper bound of every number.")
    scale: Any = param.Selector(
        default="linear", objects=["linear", "log"], doc="What the height of a bar shows."
    )
    unit = param.String(default="", doc="Unit of the numbers; empty for a pure number.")
    step = param.Number(
        default=None, allow_None=True, doc="One step; a round hundredth of the range if None."
    )
    hold_mean = param.Boolean(
        default=None,
        allow_None=True,
        doc="Whether the others give way so that the mean stays; None offers no such switch.",
    )

    _rename: ClassVar[Mapping[str, str | None]] = {
        "low": None,
        "high": None,
        "scale": None,
        "unit": None,
        "step": None,
        "hold_mean": None,
    }
    _drawn: ClassVar[tuple[str, ...]] = (
        *Editor._drawn,
        "low",
        "high",
        "scale",
        "unit",
        "step",
        "hold_mean",
    )
    _esm = script("bar_editor.js")

    def _check(self) -> None:
        if not self.low < self.high:
            raise BadInput(
                f"The bounds {self.low:g} and {self.high:g} leave no range: low must be below high."
            )
        if self.scale == "log" and self.low <= 0:
            raise BadInput(f"A log scale starts above 0, not at {self.low:g}.")
        if self.step is not None and not self.step > 0:
            raise BadInput(f"A step is above 0, not {self.step:g}.")
        self._inside(self.value)
        for name, values in self.presets.items():
            try:
                self._inside(numbers(values))
            except BadInput as error:
                raise BadInput(f"Preset {name!r}: {error}") from None
            if len(values) != len(self.value):
                raise BadInput(f"Preset {name!r} has {len(values)} entries for {len(self.value)} bars.")

    def _inside(self, values: tuple[float, ...]) -> None:
        if not 1 <= len(values) <= MOST:
            raise BadInput(f"{len(values)} bars cannot be drawn; give 1 to {MOST} numbers.")
        low, high = self.low, self.high
        for index, value in enumerate(values):
            if not low <= value <= high:
                name = self._name(index)
                raise BadInput(f"{name} = {value:g} is outside {low:g} to {high:g}. Choose a value inside.")

    def _read(self, said: Mapping[str, Any]) -> dict[str, Any]:
        value = numbers(said.get("value", ()))
        if len(value) != len(self.value):
            raise BadInput(f"{len(value)} numbers came for {len(self.value)} bars: give one for each.")
        self._inside(value)
        changes: dict[str, Any] = {"value": value}
        if self.hold_mean is not None:
            changes["hold_mean"] = said.get("hold_mean") is True
        return changes

    def _face(self) -> dict[str, Any]:
        own = ("low", "high", "scale", "unit", "step", "hold_mean")
        return {**super()._face(), **{name: getattr(self, name) for name in own}}
