"""What a residual costs: the one place that knows an objective's value, slope and curvature.

A fit minimises sum_i weight_i penalty(r_i) with r_i = ln L_predicted,i - ln L_measured,i. Every penalty is a
function of r, the least squares of the loss itself too: L_predicted - L_measured = L_measured (e^r - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from explorer.errors import BadInput


class Penalty(Protocol):
    """A cost of residuals r, with measured losses of the same shape; all results have that shape."""

    @property
    def name(self) -> str:
        """What a table of results calls it."""
        ...

    def value(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        """The cost."""
        ...

    def slope(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        """d cost / d r."""
        ...

    def curvature(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        """d2 cost / d r2; where it jumps, either side."""
        ...

    def bound(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        """Curvature of a parabola that touches the cost at r and lies above it nearby: positive everywhere.

        Its minimum is a safe short step where the cost itself has no curvature.
        """
        ...


@dataclass(frozen=True)
class Huber:
    """r^2 / 2 up to `delta`, then delta (|r| - delta / 2): Hoffmann et al. 2022, eq. 3.

    Raises:
        BadInput: `delta` is not a finite number above zero.
    """

    delta: float = 1e-3
    name = "huber"

    def __post_init__(self) -> None:
        _positive("delta", self.delta)

    def value(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        size = np.abs(r)
        inner = np.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)

    def slope(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return np.clip(r, -self.delta, self.delta)

    def curvature(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return (np.abs(r) <= self.delta).astype(float)

    def bound(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return self.delta / np.maximum(np.abs(r), self.delta)


@dataclass(frozen=True)
class LogSquares:
    """r^2 / 2: least squares of ln L."""

    name = "log-squares"

    def value(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return 0.5 * r**2

    def slope(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return r

    def curvature(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return np.ones_like(r)

    def bound(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return np.ones_like(r)


@dataclass(frozen=True)
class Squares:
    """(L_predicted - L_measured)^2 / 2: least squares of the loss itself, in nats^2."""

    name = "squares"

    def value(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return 0.5 * (loss * np.expm1(r)) ** 2

    def slope(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return loss**2 * np.expm1(r) * np.exp(r)

    def curvature(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        ratio = np.exp(r)
        return loss**2 * ratio * (2 * ratio - 1)

    def bound(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return loss**2 * np.exp(2 * r)


@dataclass(frozen=True)
class Quantile:
    """The pinball cost of u = ln L_measured - ln L_predicted: q u above zero, (q - 1) u below, smoothed.

    The fitted curve has a share q of the measurements below it. Within `width` of zero the kink is a parabola
    that touches both lines; the objective is nowhere more than width / 4 a point above the exact one.

    Args:
        q: the quantile, between 0 and 1; 0.5 is least absolute deviations of ln L, halved.
        width: half the width of the smoothed kink, in ln L.

    Raises:
        BadInput: q is not between 0 and 1, or `width` not a finite number above zero.
    """

    q: float = 0.5
    width: float = 1e-4
    name = "quantile"

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise BadInput(f"q is {self.q}: give a quantile between 0 and 1, e.g. 0.5.")
        _positive("width", self.width)

    def value(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        size = np.abs(r)
        inner = np.minimum(size, self.width)
        # |r| / 2 with its kink smoothed, tilted.
        smooth = 0.5 * (size - inner) + (inner**2 + self.width**2) / (4 * self.width)
        return smooth + (0.5 - self.q) * r

    def slope(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return np.clip(r / (2 * self.width), -0.5, 0.5) + (0.5 - self.q)

    def curvature(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return (np.abs(r) <= self.width) / (2 * self.width)

    def bound(self, r: np.ndarray, loss: np.ndarray) -> np.ndarray:
        return 0.5 / np.maximum(np.abs(r), self.width)


PENALTIES = ("huber", "log-squares", "squares", "quantile")


def penalty_of(given: str | Penalty, delta: float) -> Penalty:
    """The penalty that a name or an object stands for; `delta` goes to "huber" alone.

    Raises:
        BadInput: the name is unknown, or `delta` is not a finite number above zero.
    """
    if not isinstance(given, str):
        return given
    if given == "huber":
        return Huber(delta)
    if given not in PENALTIES:
        raise BadInput(f"penalty is {given!r}: choose from {', '.join(PENALTIES)}, or give an object.")
    _positive("delta", delta)
    plain: dict[str, Penalty] = {"log-squares": LogSquares(), "squares": Squares(), "quantile": Quantile()}
    return plain[given]


def _positive(name: str, value: float) -> None:
    if not np.isfinite(value) or value <= 0:
        raise BadInput(f"{name} is {value}: give a finite number above zero, in units of ln(loss).")
