"""Fewer points of a long curve, chosen the same way every time."""

from __future__ import annotations

import numpy as np


def log_spaced(start: int, stop: int, most: int) -> np.ndarray:
    """Indices in [start, stop): first and last among them, the gaps growing in proportion to the index.

    All of them if there are no more than `most`; otherwise exactly `most` (at least 2).
    """
    count = stop - start
    if count <= max(most, 2):
        return np.arange(start, stop)
    most = max(most, 2)
    # Where the proportional gap is below one step, every index is taken; the rest is geometric.
    dense = 0
    while (dense + 1) * (_ratio(dense, count, most) - 1) < 1:
        dense += 1
    rest = most - dense
    steps = np.arange(rest)
    tail = (dense + 1) * (count / (dense + 1)) ** (steps / (rest - 1)) - 1
    # Gaps of at least one step stay distinct when rounded down; the last index is exact in any case.
    tail = np.floor(tail + 1e-9).astype(np.int64)
    tail[-1] = count - 1
    return start + np.concatenate([np.arange(dense), tail])


def _ratio(dense: int, count: int, most: int) -> float:
    """Ratio between neighbours if the first `dense` indices are taken one by one."""
    return (count / (dense + 1)) ** (1 / (most - dense - 1))


def with_extremes(indices: np.ndarray, extremes: list[int], start: int, stop: int) -> np.ndarray:
    """`indices` and those `extremes` that lie in [start, stop), sorted, each once."""
    inside = [n for n in extremes if start <= n < stop]
    return np.union1d(indices, np.asarray(inside, dtype=np.int64)).astype(np.int64)


def kept(y: np.ndarray, most: int) -> np.ndarray:
    """Indices of at most `most` points of a curve (never fewer than its first, last, lowest and highest).

    Args:
        y: the curve, in the order it was measured.
        most: how many points to keep; below 4 counts as 4.
    """
    if len(y) <= max(most, 4):
        return np.arange(len(y))
    spaced = log_spaced(0, len(y), max(most, 4) - 2)
    return with_extremes(spaced, [int(np.argmin(y)), int(np.argmax(y))], 0, len(y))
