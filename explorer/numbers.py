"""Numbers as people in the field write them: 70B, 1.4T, 2e20."""

from __future__ import annotations

import math
import re

from explorer.errors import BadInput

SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([kmbgtKMBGT]?)")


def read_number(text: str) -> float:
    """The number in `text`: 70e9, 1.4T, 125M, 2e20, 1_000 and 1,000,000 are understood.

    Raises:
        BadInput: if it is not a finite number.
    """
    plain = text.strip().replace("_", "")
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    match = _NUMBER.fullmatch(plain)
    value = float(match[1]) * SUFFIXES.get(match[2].lower(), 1.0) if match else math.nan
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
    if size >= 10**digits:
        return f"{float(f'{value:.{digits}g}'):,.0f}"
    return _short(f"{value:.{max(digits, 1)}g}")


def _short(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits and "e" not in digits else digits
