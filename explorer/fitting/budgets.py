"""Budgets of compute: which points are told apart as smaller and larger ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import BadInput

# Points whose compute differs by less were meant to have the same.
_SAME = np.log(1.05)
_MOST_LEVELS, _BINS = 12, 8


def compute(variables: Mapping[str, ArrayLike]) -> np.ndarray:
    """FLOP of each point: C where it is given, else 6 N D.

    Raises:
        BadInput: there is neither.
    """
    if "C" in variables:
        return np.asarray(variables["C"], float)
    if {"N", "D"} <= set(variables):
        return 6 * np.asarray(variables["N"], float) * np.asarray(variables["D"], float)
    raise BadInput(
        f"The compute of the points is not known from {', '.join(variables) or 'nothing'}: give C, or N and D."
    )


def budget_groups(C: ArrayLike) -> np.ndarray:
    """Codes 0, 1, ... (n,) of each point's budget, the smallest first.

    Budgets within 5 % are one. Where that leaves too many or too few to tell apart, the points are cut into
    groups of about one size instead, points of the same compute together.
    """
    log_C = np.log(np.asarray(C, float))
    order = np.argsort(log_C, kind="stable")
    level = np.empty(len(order), int)
    level[order] = np.concatenate([[0], np.cumsum(np.diff(log_C[order]) > _SAME)])
    if 3 <= level.max() + 1 <= _MOST_LEVELS:
        return level
    if level.max() + 1 < 3:  # without gaps: one level a value
        level = np.unique(log_C, return_inverse=True)[1]
    below = np.array([np.sum(level < one) for one in range(level.max() + 1)])
    share = (below + (np.bincount(level) - 1) / 2) / len(log_C)
    bins = np.minimum((share * _BINS).astype(int), _BINS - 1)
    return np.unique(bins[level], return_inverse=True)[1]
