"""One control a parameter of an exhibit: a slider with a typed value, or a choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.errors import BadInput
from explorer.exhibits import Choice, Count, Exhibit
from explorer.exhibits.entries import Entries
from explorer.numbers import write_number
from widgets.entry_controls import EntriesControl
from widgets.latency import answer_at_once
from widgets.number_text import number_formatter

STEPS = 400  # positions of a slider between its ends


class QuantitySlider(Viewer):
    """A slider and a text field for one number of an exhibit.

    Dragging sends every step at once; typing takes 70B, 1.4T or 2e20; a value that cannot be used is refused
    in one sentence under the field and changes nothing.

    Args:
        exhibit: whose number it is.
        name: the parameter's name, which is also its symbol.
        moved: called with no argument after the exhibit has the new value.

    Attributes:
        dragging: whether `moved` is called in the middle of a move; it is called once more at its end.
    """

    def __init__(self, exhibit: Exhibit, name: str, moved: Callable[[], None], **params: Any) -> None:
        super().__init__(**params)
        self.exhibit, self.name_, self.moved = exhibit, name, moved
        self.dragging = False
        self.quantity: Any = exhibit.param[name]
        low, high = self.quantity.get_soft_bounds()
        self._log = self.quantity.scale == "log"
        self._whole = isinstance(self.quantity, Count)
        self._zero = self.quantity.zero_below if self._log else None
        # The slider counts whole steps from its start: a page key then moves ten of them, wherever the scale.
        self._start, end = self._place(self._zero or low), self._place(high)
        step = 1 if self._whole and not self._log else self.quantity.step or (end - self._start) / STEPS
        self._steps = max(1, round((end - self._start) / step))
        self._step = (end - self._start) / self._steps
        if self._zero:  # one more place in front, for zero
            self._start, self._steps = self._start - self._step, self._steps + 1
        unit = f" ({self.quantity.unit})" if self.quantity.unit else ""
        self.slider = pmui.FloatSlider(
            label=f"{self.quantity.label}{unit}",
            start=0,
            end=self._steps,
            step=1,
            value=self._count(getattr(exhibit, name)),
            format=number_formatter(self.quantity.scale, self._start, self._step, zero=bool(self._zero)),
            show_value=False,
            size="small",
            sizing_mode="stretch_width",
            margin=(0, 12, 0, 8),
        )
        answer_at_once(self.slider)
        self.field = pmui.TextInput(
            label=name,
            value=write_number(getattr(exhibit, name)),
            size="small",
            variant="standard",
            width=96,
            margin=(0, 4, 0, 4),
        )
        self.slider.param.watch(self._dragged, "value")
        self.slider.param.watch(self._released, "value_throttled")
        self.field.param.watch(self._typed, "value")
        self._showing = False

    def _place(self, value: float) -> float:
        return math.log10(value) if self._log else float(value)

    def _value(self, count: float) -> float | int:
        if self._zero and count < 0.5:
            return 0.0
        place = self._start + count * self._step
        # As many digits as a slider can aim at: 1.8182, not 1.8181999999999998.
        value = float(f"{10.0**place:.6g}") if self._log else float(f"{place:.10g}")
        low, high = self.quantity.limits
        value = min(max(value, low), high)
        return round(value) if self._whole else value

    def _count(self, value: float) -> float:
        """Where the slider stands for a value, between steps if need be; its range may be narrower than the bounds."""
        if self._zero and value <= 0:
            return 0
        low, high = self.quantity.get_soft_bounds()
        return (self._place(min(max(value, self._zero or low), high)) - self._start) / self._step

    def _dragged(self, event: Any) -> None:
        if self._showing:
            return
        self.exhibit.move(**{self.name_: self._value(event.new)})
        self.dragging = True
        try:
            self.moved()
        finally:
            self.dragging = False

    def _released(self, _: Any) -> None:
        if not self._showing:
            self.moved()

    def javascript_value(self) -> str:
        """`_value` as a JavaScript expression of `count`."""
        place = f"({self._start!r} + count * {self._step!r})"
        value = (
            f"Number(Math.pow(10, {place}).toPrecision(6))"
            if self._log
            else f"Number({place}.toPrecision(10))"
        )
        if self._zero:
            value = f"(count < 0.5 ? 0 : {value})"
        low, high = self.quantity.limits
        value = f"Math.min(Math.max({value}, {low!r}), {high!r})"
        return f"Math.round({value})" if self._whole else value

    def _typed(self, event: Any) -> None:
        if self._showing:
            return
        try:
            self.exhibit.restore({self.name_: event.new}, trusted=False)
        except BadInput as error:
            self.field.error_state = True
            self.field.helper_text = str(error)
            return
        self.moved()

    def sync(self) -> None:
        """Take over the exhibit's value; what already shows it is left alone."""
        value = getattr(self.exhibit, self.name_)
        self._showing = True
        try:
            count = self._count(value)
            if abs(self.slider.value - count) > 1e-3:  # less than that is the rounding of what it said itself
                self.slider.value = count
            text = write_number(value)
            if self.field.value != text:
                self.field.param.update(value=text, value_input=text)
            if self.field.error_state:
                self.field.param.update(error_state=False, helper_text="")
        finally:
            self._showing = False

    def __panel__(self) -> pn.Row:
        return pn.Row(self.slider, self.field, sizing_mode="stretch_width", margin=(0, 0, 2, 0))


class ChoiceSelect(Viewer):
    """A drop-down for one choice of an exhibit."""

    def __init__(self, exhibit: Exhibit, name: str, moved: Callable[[], None], **params: Any) -> None:
        super().__init__(**params)
        self.exhibit, self.name_, self.moved = exhibit, name, moved
        choice: Any = exhibit.param[name]
        current = self._given = getattr(exhibit, name)
        self.select = pmui.Select(
            label=choice.label,
            options=[*choice.choices, *([] if current in choice.choices else [current])],
            value=current,
            size="small",
            sizing_mode="stretch_width",
            margin=(4, 12, 8, 8),
        )
        self.select.param.watch(self._chosen, "value")

    def _chosen(self, event: Any) -> None:
        if event.new != getattr(self.exhibit, self.name_):
            # What Python put there, a path perhaps, may be chosen again; anything else must be on offer.
            self.exhibit.restore({self.name_: event.new}, trusted=event.new == self._given)
            self.moved()

    def sync(self) -> None:
        value = getattr(self.exhibit, self.name_)
        if self.select.value != value:
            self.select.value = value

    def __panel__(self) -> pmui.Select:
        return self.select


def control_for(
    exhibit: Exhibit, name: str, moved: Callable[[], None]
) -> QuantitySlider | ChoiceSelect | EntriesControl:
    """The control that suits the parameter's type."""
    if isinstance(exhibit.param[name], Entries):
        return EntriesControl(exhibit, name, moved)
    if isinstance(exhibit.param[name], Choice):
        return ChoiceSelect(exhibit, name, moved)
    return QuantitySlider(exhibit, name, moved)
