"""Least squares for the coefficients a law is linear in, for many values of its exponents at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np


def exponent_grid(fixed: float | None, low: float = 0.03, high: float = 2.0, count: int = 12) -> np.ndarray:
    """Log-spaced values of an exponent, shape (count,); only `fixed`, shape (1,), where it is held."""
    return np.geomspace(low, high, count) if fixed is None else np.array([float(fixed)])


def mesh(*axes: np.ndarray) -> list[np.ndarray]:
    """Every combination of the axes, as flat arrays of one length."""
    return [grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")]


def project(
    columns: Sequence[np.ndarray],
    target: np.ndarray,
    weight: np.ndarray,
    known: Sequence[float | None] | None = None,
) -> list[np.ndarray]:
    """Positive x that minimise sum_i (weight_i (sum_k x_k columns_ki - target_i))^2, for G problems at once.

    The constraint x >= 0 is met exactly by trying every subset of columns, so there should be few of them. A
    coefficient that comes out zero is raised to a thousandth of what would explain the target alone: at zero
    its logarithm does not exist, and a descent could not leave it.

    Args:
        columns: k arrays that broadcast to (G, n), not negative.
        target: broadcasts to (G, n).
        weight: broadcasts to (G, n).
        known: k values of coefficients that are held, None where free.

    Returns:
        k arrays of shape (G,).
    """
    shape = np.broadcast_shapes(*(np.shape(c) for c in columns), np.shape(target), np.shape(weight))
    groups, count = shape[0], len(columns)
    matrix = np.stack([np.broadcast_to(c * weight, shape) for c in columns], axis=-1)  # (G, n, k)
    rest = np.broadcast_to(target * weight, shape).copy()
    scale = np.maximum(np.sqrt(np.mean(matrix**2, axis=1)), 1e-300)  # (G, k)
    size = np.sqrt(np.mean(rest**2, axis=1))  # (G,)
    matrix = matrix / scale[:, None, :]
    held = list(known) if known is not None else [None] * count
    free = [k for k in range(count) if held[k] is None]
    for k, value in enumerate(held):
        if value is not None:
            rest -= matrix[:, :, k] * (value * scale[:, None, k])
    gram = np.swapaxes(matrix, 1, 2) @ matrix
    right = np.einsum("gnk,gn->gk", matrix, rest)
    best = np.zeros((groups, count))
    best_gain = np.zeros(groups)
    for chosen in (s for r in range(1, len(free) + 1) for s in combinations(free, r)):
        index = np.array(chosen)
        part = gram[:, index[:, None], index] + 1e-12 * shape[1] * np.eye(len(index))
        x = np.linalg.solve(part, right[:, index, None])[..., 0]
        gain = np.einsum("gk,gk->g", x, right[:, index])
        take = (x > 0).all(axis=1) & (gain > best_gain)
        best_gain[take] = gain[take]
        best[take] = 0
        best[np.ix_(take, index)] = x[take]
    best = np.maximum(best, 1e-3 * size[:, None]) / scale
    return [np.full(groups, held[k]) if held[k] is not None else best[:, k] for k in range(count)]
