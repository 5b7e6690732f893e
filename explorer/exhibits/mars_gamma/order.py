"""Orders over gamma: what each theory predicts, what was measured, and how alike two orders are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.exhibits.mars_gamma.law import Values, similarity
from explorer.exhibits.mars_gamma.stability import edge

ZERO_AT = 1e-3
"""Where gamma = 0 stands on a log axis, and how it counts in a ratio of gammas; the slider's smallest value above 0."""


def place(gamma: Values) -> np.ndarray:
    """Where gammas stand on a log axis."""
    return np.maximum(np.asarray(gamma, float), ZERO_AT)


def ranks(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """1 for the least value, 2 for the next ...; equal values share the mean of their places."""
    values = np.asarray(values, float)
    below = (values[:, None] > values).sum(axis=1)
    equal = (values[:, None] == values).sum(axis=1)
    return below + (equal + 1) / 2


def spearman(one: Sequence[float] | np.ndarray, other: Sequence[float] | np.ndarray) -> float:
    """Rank correlation of two lists of numbers; NaN if all of one list are equal."""
    a, b = (ranks(values) - (len(values) + 1) / 2 for values in (one, other))
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else float("nan")


def similarity_order(gammas: Sequence[float], L: float, delta: float) -> np.ndarray:
    """Ranks by delta_gamma: the smaller the constant, the lower the loss. The rate does not matter."""
    return ranks(similarity(np.asarray(gammas, float), L, delta))


def order_below_edge(gammas: Sequence[float], L: float, delta: float, eta_h: float, b1: float) -> np.ndarray:
    """Ranks by delta_gamma among the gammas that are stable at eta h; behind them the others, the smallest first."""
    values = np.asarray(gammas, float)
    stable = edge(values, b1) >= eta_h
    behind = 2 * (1 + max(L, delta)) + values
    return ranks(np.where(stable, similarity(values, L, delta), behind))


def parabola_argmin(gammas: Sequence[float], losses: Sequence[float]) -> float:
    """Where a parabola in ln gamma through the least loss and its neighbours is least; gamma = 0 takes no part.

    Falls back to the gamma of the least loss where that one has no two neighbours above 0.
    """
    pairs = sorted((g, loss) for g, loss in zip(gammas, losses, strict=True) if g > 0)
    x, y = np.log([g for g, _ in pairs]), np.array([loss for _, loss in pairs])
    least = int(y.argmin())
    if not 0 < least < len(x) - 1:
        return float(np.exp(x[least]))
    second, first, _ = np.polyfit(x[least - 1 : least + 2] - x[least], y[least - 1 : least + 2], 2)
    return float(np.exp(x[least] - first / (2 * second)))
