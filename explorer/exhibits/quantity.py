"""What a slider is: a number of the field with its symbol, unit, scale and group, and how people write it."""

from __future__ import annotations

import math
import re
from typing import Any

import param

from explorer.errors import BadInput

SUFFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([kKMBGT]?)")


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


class Count(param.Integer):
    """A whole number that a person may move; the same words as `Quantity`."""

    __slots__ = ["group", "scale", "unit"]
    _slot_defaults = {**param.Integer._slot_defaults, "unit": "", "scale": "linear", "group": "training"}

    def __init__(
        self,
        default: int,
        *,
        bounds: tuple[int, int],
        label: str,
        unit: str = "",
        scale: str = "linear",
        group: str = "training",
        **more: Any,
    ) -> None:
        self.unit, self.scale, self.group = unit, scale, group
        super().__init__(default=default, bounds=bounds, label=label, **more)

    @property
    def limits(self) -> tuple[float, float]:
        """(low, high), both reachable."""
        low, high = self.bounds or (-math.inf, math.inf)
        return float(low), float(high)  # type: ignore[arg-type]


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


def read_number(text: str) -> float:
    """The number in `text`: 70e9, 1.4T, 125M, 2e20, 1_000 and 1,000,000 are understood.

    Raises:
        BadInput: if it is not a finite number.
    """
    plain = text.strip().replace("_", "")
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    match = _NUMBER.fullmatch(plain)
    value = float(match[1]) * SUFFIXES.get(match[2], 1.0) if match else math.nan
    if not math.isfinite(value):
        raise BadInput(f"{text!r} is not a number. Write it like 0.35, 70e9, 125M or 1.4T.")
    return value


def write_number(value: float, digits: int = 4) -> str:
    """A number as people in the field write it: 70B, 1.4T, 0.3478, 5.76e23."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(float(f"{value:.{digits}g}"))  # rounded first: 9999.7 is 10,000, not 1e4
    if size >= 1e15 or (0 < size < 1e-4):
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{_short(mantissa)}e{int(exponent)}"
    for letter, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6)):
        if size >= scale:
            return _short(f"{value / scale:.{digits}g}") + letter
    if size >= 1e4:
        return _short(f"{value:,.{max(0, digits - len(str(int(size))))}f}")
    return _short(f"{value:.{max(digits, 1)}g}")


def _short(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits and "e" not in digits else digits
