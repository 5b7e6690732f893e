"""What a slider is: a number of the field with its symbol, unit, scale and group, or one of a few names."""

from __future__ import annotations

import math
from typing import Any

import param

from explorer.errors import BadInput
from explorer.numbers import read_number, write_number


class Quantity(param.Number):
    """A number that a person may move.

    Args:
        default: the value at the start.
        bounds: (low, high), both reachable. `softbounds` narrows the slider, not the value.
        label: the name in words, e.g. "training tokens". The parameter's own name is the symbol.
        unit: e.g. "nats/token"; empty for a pure number.
        scale: "linear" or "log" (the slider moves in log10).
        group: what the slider belongs to: "law", "data" or "training".
        zero_below: on a log scale from 0, the smallest value above it; the slider's first place is 0.
    """

    __slots__ = ["group", "scale", "unit", "zero_below"]
    _slot_defaults = {
        **param.Number._slot_defaults,
        "unit": "",
        "scale": "linear",
        "group": "law",
        "zero_below": None,
    }

    def __init__(
        self,
        default: float,
        *,
        bounds: tuple[float, float],
        label: str,
        unit: str = "",
        scale: str = "linear",
        group: str = "law",
        step: float | None = None,
        zero_below: float | None = None,
        **more: Any,
    ) -> None:
        self.unit, self.scale, self.group, self.zero_below = unit, scale, group, zero_below
        super().__init__(default=default, bounds=bounds, label=label, step=step, **more)

    @property
    def limits(self) -> tuple[float, float]:
        """(low, high), both reachable."""
        low, high = self.bounds or (-math.inf, math.inf)
        return float(low), float(high)  # type: ignore[arg-type]

    @property
    def offered(self) -> str:
        """What may be chosen, in words."""
        low, high = self.limits
        return f"{write_number(low)} to {write_number(high)}"

    def read(self, value: Any, trusted: bool = True) -> float:
        """The number meant by a number or a text. Raises BadInput if there is none, or it is out of bounds."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadInput(f"{self.name} = {value!r} is not a number.")
        try:
            number = read_number(value if isinstance(value, str) else repr(value))
        except BadInput as error:
            raise BadInput(f"{self.name}: {error}") from None
        low, high = self.limits
        if not low <= number <= high:
            raise BadInput(
                f"{self.name} = {write_number(number)} is outside {self.offered}. Choose a value inside."
            )
        return float(number)

    def write(self, value: float) -> str:
        """The value as a person reads it."""
        return write_number(value, 7)

    def same(self, one: float, other: float) -> bool:
        """Whether two values are one, but for rounding."""
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)


class Count(Quantity):
    """A whole number that a person may move; the same words as `Quantity`."""

    def __init__(self, default: int, *, group: str = "training", **more: Any) -> None:
        super().__init__(default, group=group, **more)

    def _validate_value(self, val: Any, allow_None: bool) -> None:
        super()._validate_value(val, allow_None)
        if val is not None and not callable(val) and val != int(val):
            raise ValueError(f"{self.name or 'a count'} = {val} is not a whole number.")

    def read(self, value: Any, trusted: bool = True) -> int:
        """As `Quantity.read`, and whole."""
        number = super().read(value, trusted)
        if number != int(number):
            raise BadInput(f"{self.name} = {write_number(number)} is not a whole number.")
        return int(number)


class Choice(param.Selector):
    """One of a few named values.

    Args:
        objects: what the page offers.
        open_to_python: accept other strings from Python and the command line (a path, say), never from a page.
    """

    __slots__ = ["choices", "group", "open_to_python"]
    _slot_defaults = {
        **param.Selector._slot_defaults,
        "choices": (),
        "group": "training",
        "open_to_python": False,
    }

    def __init__(
        self,
        objects: list[str],
        *,
        label: str,
        group: str = "training",
        open_to_python: bool = False,
        **more: Any,
    ) -> None:
        # Kept apart: param adds every value that was ever set to `objects`.
        self.choices = tuple(objects)
        self.group, self.open_to_python = group, open_to_python
        super().__init__(objects=objects, label=label, check_on_set=not open_to_python, **more)

    @property
    def offered(self) -> str:
        """What may be chosen, in words."""
        return ", ".join(self.choices)

    def read(self, value: Any, trusted: bool = True) -> str:
        """The choice meant. Raises BadInput if it is not offered."""
        if value in self.choices or (trusted and self.open_to_python and isinstance(value, str)):
            return value
        raise BadInput(f"{self.name} = {value!r} is not offered. Choose one of: {self.offered}.")

    def write(self, value: str) -> str:
        """The value as a person reads it."""
        return value

    def same(self, one: str, other: str) -> bool:
        """Whether two values are one."""
        return one == other
