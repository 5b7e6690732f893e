"""Two safeguarded searches along one axis, for many problems at once: grids that close in on the answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

# Each step keeps two of 32 gaps: ten of them shrink a bracket of 200 below 1e-9, where rounding hides what is left.
_GAPS, _STEPS = 32, 10


def lowest(function: Callable[[np.ndarray], np.ndarray], low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Where `function` is lowest between `low` and `high`.

    It must fall, then rise; it may be NaN, taken for infinite, towards one end.

    Args:
        function: called with places of shape (m, ...), where ... is the shape of the problems; elementwise.
        low, high: the ends, broadcast to each other: shape (...).
    """
    low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
    for _ in range(_STEPS):
        grid = np.linspace(low, high, _GAPS + 1)
        with np.errstate(all="ignore"):
            value = function(grid)
        best = np.argmin(np.where(np.isnan(value), np.inf, value), axis=0)
        low, high = _take(grid, best - 1), _take(grid, best + 1)
    return (low + high) / 2


def crossing(function: Callable[[np.ndarray], np.ndarray], low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Where a monotone `function` crosses zero between `low` and `high`; NaN where it does not.

    Arguments as `lowest`.
    """
    low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
    crosses = np.zeros(low.shape, bool)
    for step in range(_STEPS):
        grid = np.linspace(low, high, _GAPS + 1)
        with np.errstate(all="ignore"):
            sign = np.sign(function(grid))
        if step == 0:
            crosses = sign[0] * sign[-1] <= 0
        before = np.sum(sign == sign[0], axis=0) - 1
        low, high = _take(grid, before), _take(grid, before + 1)
    return np.where(crosses, (low + high) / 2, np.nan)


def _take(grid: np.ndarray, index: np.ndarray) -> np.ndarray:
    return np.take_along_axis(grid, np.clip(index, 0, _GAPS)[None], axis=0)[0]
