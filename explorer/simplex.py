"""Weights of a mixture: checked, listed on a lattice, drawn in a triangle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from explorer.errors import BadInput

FEWEST, MOST = 2, 8
HEIGHT = math.sqrt(3.0) / 2.0  # of a triangle with sides of one
ROUNDING = 0.005  # weights written with three digits miss one by less than this
LARGEST = 1_000_000  # points of a lattice


def check_weights(weights: Iterable[float], names: Sequence[str] | None = None) -> tuple[float, ...]:
    """The weights as floats that sum to one.

    A sum within 0.005 of one is taken for rounding and divided out; weights that sum to one are returned unchanged.

    Args:
        weights: two to eight numbers, none negative.
        names: what the entries are called, where that is known; their number must match.

    Raises:
        BadInput: if they are not such numbers.
    """
    try:
        given = [float(weight) for weight in weights]
    except (TypeError, ValueError):
        raise BadInput(f"{weights!r} is not a list of weights. Write it like 0.2, 0.3, 0.5.") from None
    if names is not None and len(given) != len(names):
        raise BadInput(
            f"{len(given)} weights were given for {len(names)} entries ({', '.join(names)}): give one for each."
        )
    if not FEWEST <= len(given) <= MOST:
        raise BadInput(f"A mixture has {FEWEST} to {MOST} weights, not {len(given)}.")
    for index, weight in enumerate(given):
        if not math.isfinite(weight) or weight < -1e-9:
            name = names[index] if names is not None else str(index + 1)
            raise BadInput(f"The weight of {name} is {weight:.6g}; a weight lies between 0 and 1.")
    given = [max(weight, 0.0) for weight in given]
    total = math.fsum(given)
    if abs(total - 1.0) > ROUNDING:
        raise BadInput(f"The weights {_listed(given)} sum to {total:.6g}; they have to sum to 1.")
    if abs(total - 1.0) <= 1e-12:
        return tuple(given)
    return tuple(weight / total for weight in given)


def lattice(parts: int, steps: int) -> np.ndarray:
    """All weights that are multiples of 1/steps, shape (M, parts), read-only.

    M is `steps + parts - 1` choose `parts - 1`. The first entry falls fastest and the last rises slowest: for three
    entries that is row by row from the bottom of the triangle, each row from left to right. So `lattice(3, 2)` is
    (1, 0, 0), (1/2, 1/2, 0), (0, 1, 0), (1/2, 0, 1/2), (0, 1/2, 1/2), (0, 0, 1).

    Raises:
        BadInput: if there are no parts or steps, or more than a million points.
    """
    if parts < 1 or steps < 1:
        raise BadInput(f"A lattice has at least one part and one step, not {parts} and {steps}.")
    size = math.comb(steps + parts - 1, parts - 1)
    if size > LARGEST:
        raise BadInput(
            f"A lattice of {parts} parts and {steps} steps has {size:,} points; take fewer than {LARGEST:,}."
        )
    return _lattice(int(parts), int(steps))


@lru_cache(maxsize=32)
def _lattice(parts: int, steps: int) -> np.ndarray:
    weights = _counts(parts, steps) / steps
    weights.flags.writeable = False
    return weights


def _counts(parts: int, steps: int) -> np.ndarray:
    """Whole numbers that sum to `steps`, in the lattice's order, shape (M, parts)."""
    if parts == 1:
        return np.array([[steps]], dtype=np.int64)
    if parts == 2:
        second = np.arange(steps + 1)
        return np.column_stack([steps - second, second])
    rows = []
    for last in range(steps + 1):
        rest = _counts(parts - 1, steps - last)
        rows.append(np.column_stack([rest, np.full(len(rest), last)]))
    return np.concatenate(rows)


def to_plane(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where three weights, shape (..., 3), lie in the triangle: x and y, each of shape (...).

    The corners (0, 0), (1, 0), (1/2, sqrt(3)/2) stand for entries 1, 2, 3. Weights that do not sum to one are
    placed by their shares.
    """
    weights = np.asarray(weights, dtype=float)
    total = weights.sum(axis=-1)
    return (weights[..., 1] + weights[..., 2] / 2.0) / total, weights[..., 2] * HEIGHT / total


def from_plane(x: float | np.ndarray, y: float | np.ndarray) -> np.ndarray:
    """The three weights, shape (..., 3), of a place in the triangle; a place outside counts as the nearest inside."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    third = y / HEIGHT
    second = x - third / 2.0
    weights = np.stack([1.0 - second - third, second, third], axis=-1)
    # The nearest point of the simplex: subtract from all, and cut at zero, what makes the rest sum to one.
    falling = -np.sort(-weights, axis=-1)
    excess = (np.cumsum(falling, axis=-1) - 1.0) / np.arange(1.0, 4.0)
    kept = (falling > excess).sum(axis=-1, keepdims=True)
    cut = np.take_along_axis(excess, np.maximum(kept - 1, 0), axis=-1)
    weights = np.maximum(weights - cut, 0.0)
    return weights / weights.sum(axis=-1, keepdims=True)


def raster(
    values: np.ndarray, steps: int, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A picture of a function over the triangle, from its values on `lattice(3, steps)`, shape (M,).

    Between lattice points it is linear on each small triangle.

    Returns:
        x of shape (width,), from 0 to 1; y of shape (height,), from 0 to sqrt(3)/2; z of shape (height, width),
        NaN outside the triangle. x and y are read-only.

    Raises:
        BadInput: if the number of values is not the lattice's.
    """
    values = np.asarray(values, dtype=float)
    x, y, inside, index, share = _tables(int(steps), int(width), int(height))
    size = (steps + 1) * (steps + 2) // 2
    if values.shape != (size,):
        raise BadInput(f"A lattice of {steps} steps has {size} values, not an array of shape {values.shape}.")
    z = np.full(height * width, np.nan)
    z[inside] = np.einsum("ij,ij->j", values[index], share)
    return x, y, z.reshape(height, width)


@lru_cache(maxsize=16)
def _tables(steps: int, width: int, height: int) -> tuple[np.ndarray, ...]:
    """Which pixels lie inside, and of which three lattice points, in which shares, each is made: (3, inside)."""
    x, y = np.linspace(0.0, 1.0, width), np.linspace(0.0, HEIGHT, height)
    flat_x, flat_y = (axis.ravel() for axis in np.meshgrid(x, y))
    weights = from_plane(flat_x, flat_y)
    back_x, back_y = to_plane(weights)
    inside = np.flatnonzero(np.hypot(back_x - flat_x, back_y - flat_y) < 1e-9)
    second, third = weights[inside, 1] * steps, weights[inside, 2] * steps
    column, row = np.floor(second + 1e-9), np.floor(third + 1e-9)
    right, up = np.clip(second - column, 0.0, 1.0), np.clip(third - row, 0.0, 1.0)
    upright = right + up <= 1.0
    # An upright small triangle has its corner at (column, row), one that stands on its tip at (column+1, row+1).
    columns = np.stack([np.where(upright, column, column + 1), column + 1, column])
    rows = np.stack([np.where(upright, row, row + 1), row, row + 1])
    share = np.stack(
        [np.abs(1.0 - right - up), np.where(upright, right, 1.0 - up), np.where(upright, up, 1.0 - right)]
    )
    # On an edge a corner may lie outside, with no share: any lattice point does for it.
    outside = columns + rows > steps
    share = np.where(outside, 0.0, share)
    columns, rows = np.where(outside, 0, columns), np.where(outside, 0, rows)
    index = (rows * (steps + 1) - rows * (rows - 1) / 2 + columns).astype(np.intp)
    share /= share.sum(axis=0)
    for table in (x, y, inside, index, share):
        table.flags.writeable = False
    return x, y, inside, index, share


def _listed(weights: Iterable[float]) -> str:
    return ", ".join(f"{weight:.4g}" for weight in weights)
