"""What a slider is: a number of the field with its symbol, unit, scale and group."""

from __future__ import annotations

import math
from typing import Any

import param


class Quantity(param.Number):
    """A number that a person may move.

    Args:
        default: the value at the start.
        bounds: (low, high), both reachable. `softbounds` narrows the slider, not the value.
        label: the name in words, e.g. "training tokens". The parameter's own name is the symbol.
        unit: e.g. "nats/token"; empty for a pure number.
        scale: "linear" or "log" (the slider moves in log10).
        group: what the slider belongs to: "law", "data" or "training".
    """

    __slots__ = ["group", "scale", "unit"]
    _slot_defaults = {**param.Number._slot_defaults, "unit": "", "scale": "linear", "group": "law"}

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
        **more: Any,
    ) -> None:
        self.unit, self.scale, self.group = unit, scale, group
        super().__init__(default=default, bounds=bounds, label=label, step=step, **more)

    @property
    def limits(self) -> tuple[float, float]:
        """(low, high), both reachable."""
        low, high = self.bounds or (-math.inf, math.inf)
        return float(low), float(high)  # type: ignore[arg-type]


class Count(Quantity):
    """A whole number that a person may move; the same words as `Quantity`."""

    def __init__(self, default: int, *, group: str = "training", **more: Any) -> None:
        super().__init__(default, group=group, **more)

    def _validate_value(self, val: Any, allow_None: bool) -> None:
        super()._validate_value(val, allow_None)
        if val is not None and not callable(val) and val != int(val):
            raise ValueError(f"{self.name or 'a count'} = {val} is not a whole number.")


class Choice(param.Selector):
    """One of a few named values.

    Args:
        objects: what the page offers.
        open_to_python: accept other strings from Python and the command line (a path, say), never from a page.
    """

    __slots__ = ["group", "open_to_python"]
    _slot_defaults = {**param.Selector._slot_defaults, "group": "training", "open_to_python": False}

    def __init__(
        self,
        objects: list[str],
        *,
        label: str,
        group: str = "training",
        open_to_python: bool = False,
        **more: Any,
    ) -> None:
        self.group, self.open_to_python = group, open_to_python
        super().__init__(objects=objects, label=label, check_on_set=not open_to_python, **more)
