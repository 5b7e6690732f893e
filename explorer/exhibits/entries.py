"""Sliders that hold several numbers: a profile (one a layer, one a domain) and a mixture that sums to one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import param

from explorer.errors import BadInput
from explorer.numbers import read_number, write_number
from explorer.simplex import check_weights


class Entries(param.Parameter):
    """A tuple of numbers that a person may move one by one; its subclasses say what they must satisfy.

    Args:
        default: the entries at the start.
        label: the name in words. The parameter's own name is the symbol.
        unit: of every entry.
        group: what it belongs to: "law", "data" or "training".
        lengths: fewest and most entries.
    """

    __slots__ = ["group", "lengths", "unit"]
    _slot_defaults = {
        **param.Parameter._slot_defaults,
        "unit": "",
        "group": "law",
        "lengths": (1, 64),
    }

    def __init__(
        self,
        default: Sequence[float],
        *,
        label: str,
        unit: str = "",
        group: str = "law",
        lengths: tuple[int, int] = (1, 64),
        **more: Any,
    ) -> None:
        self.unit, self.group, self.lengths = unit, group, lengths
        super().__init__(default=tuple(map(float, default)), label=label, **more)

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if val is not None:
            self.read(val)

    def read(self, value: Any, trusted: bool = True) -> tuple[float, ...]:
        """The entries meant by a sequence of numbers or by a text such as "0.2, 0.3, 0.5".

        Raises:
            BadInput: an entry is not a number, or there are too few or too many.
        """
        parts = re.split(r"[,;\s]+", value.strip()) if isinstance(value, str) else value
        if isinstance(parts, bytes) or not isinstance(parts, Sequence | np.ndarray):
            raise BadInput(
                f'{self.name} = {value!r} is not a list of numbers. Write it like "0.2, 0.3, 0.5".'
            )
        fewest, most = self.lengths
        if not fewest <= len(parts) <= most:
            raise BadInput(f"{self.name} has {len(parts)} entries; it takes {fewest} to {most}.")
        return tuple(self._entry(part) for part in parts)

    def _entry(self, part: Any) -> float:
        if isinstance(part, str):
            try:
                return read_number(part)
            except BadInput as error:
                raise BadInput(f"{self.name}: {error}") from None
        if isinstance(part, bool) or not isinstance(part, int | float | np.number) or not math.isfinite(part):
            raise BadInput(f"{self.name} holds {part!r}, which is not a number.")
        return float(part)

    def write(self, value: Sequence[float]) -> str:
        """The entries as a person reads and types them."""
        return ", ".join(write_number(entry, 6) for entry in value)

    def same(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether two values are one, but for rounding."""
        return len(one) == len(other) and bool(np.allclose(one, other, rtol=1e-6, atol=1e-9))


class Profile(Entries):
    """One number a layer, or one a domain: drawn as bars that can be dragged.

    Args:
        bounds: (low, high) of every entry, both reachable.
        scale: "linear" or "log".
        hold_mean: whether moving one entry makes the others give way, so that the mean stays.
    """

    __slots__ = ["bounds", "hold_mean", "scale"]
    _slot_defaults = {
        **Entries._slot_defaults,
        "bounds": (0.0, 1.0),
        "scale": "linear",
        "hold_mean": False,
    }

    def __init__(
        self,
        default: Sequence[float],
        *,
        bounds: tuple[float, float],
        scale: str = "linear",
        hold_mean: bool = False,
        **more: Any,
    ) -> None:
        self.bounds, self.scale, self.hold_mean = bounds, scale, hold_mean
        super().__init__(default, **more)

    @property
    def offered(self) -> str:
        """What may be chosen, in words."""
        low, high = self.bounds
        return f"each {write_number(low)} to {write_number(high)}"

    def read(self, value: Any, trusted: bool = True) -> tuple[float, ...]:
        """As `Entries.read`; BadInput too for an entry out of bounds."""
        entries = super().read(value, trusted)
        low, high = self.bounds
        for place, entry in enumerate(entries, 1):
            if not low <= entry <= high:
                raise BadInput(
                    f"Entry {place} of {self.name} is {write_number(entry)}; it has to be "
                    f"{write_number(low)} to {write_number(high)}."
                )
        return entries


class Mixture(Entries):
    """Weights that are not negative and sum to one: drawn as a triangle or as linked bars."""

    def __init__(
        self,
        default: Sequence[float],
        *,
        group: str = "data",
        lengths: tuple[int, int] = (2, 8),
        **more: Any,
    ) -> None:
        super().__init__(default, group=group, lengths=lengths, **more)

    @property
    def offered(self) -> str:
        """What may be chosen, in words."""
        return "weights that sum to one"

    def read(self, value: Any, trusted: bool = True) -> tuple[float, ...]:
        """As `Entries.read`; BadInput too for weights that are negative or do not sum to one."""
        return check_weights(super().read(value, trusted))
