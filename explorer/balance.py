"""What the other numbers do when a person moves one of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from explorer.errors import BadInput


def move_weight(
    weights: Sequence[float],
    index: int,
    value: float,
    locked: Collection[int] = frozenset(),
    floor: float = 0.0,
) -> tuple[float, ...]:
    """The weights after one of them was moved; they still sum to one.

    The others give or take in proportion to what they hold above `floor`, in equal shares if they hold nothing.
    Locked ones stay, the moved one too if it is locked. `value` is limited to what is free.

    Args:
        weights: numbers that sum to one.
        index: which one is moved.
        value: where to.
        locked: the indices that stay.
        floor: the least weight of an entry that is not locked.

    Raises:
        BadInput: if there is no such entry, or the value is not a finite number.
    """
    weights = [float(weight) for weight in weights]
    _check(len(weights), index, value)
    others = [i for i in range(len(weights)) if i != index and i not in locked]
    if index in locked or not others:
        return tuple(weights)
    free = 1.0 - sum(weights[i] for i in range(len(weights)) if i != index and i in locked)
    spare = max(free - floor * (len(others) + 1), 0.0)
    moved = min(max(value - floor, 0.0), spare)
    held = [max(weights[i] - floor, 0.0) for i in others]
    total = sum(held)
    weights[index] = floor + moved
    for i, holding in zip(others, held, strict=True):
        share = holding / total if total > 0.0 else 1.0 / len(others)
        weights[i] = floor + (spare - moved) * share
    return tuple(weights)


def nearest_weights(
    target: Sequence[float], weights: Sequence[float], locked: Collection[int] = frozenset()
) -> tuple[float, ...]:
    """The weights nearest to `target`, with the locked entries as they are in `weights`; they sum to one.

    Where a person points may lie outside the mixtures. The nearest one is found by taking the same amount from
    every entry that is not locked, and cutting at zero.

    Raises:
        BadInput: if the two differ in length, or a target is not a finite number.
    """
    if len(target) != len(weights):
        raise BadInput(f"{len(target)} targets were given for {len(weights)} weights: give one for each.")
    for value in target:
        _check(len(weights), 0, value)
    result = [float(weight) for weight in weights]
    moving = [i for i in range(len(weights)) if i not in locked]
    if not moving:
        return tuple(result)
    free = max(1.0 - sum(result[i] for i in range(len(result)) if i in locked), 0.0)
    cut, seen = 0.0, 0.0
    for count, value in enumerate(sorted((target[i] for i in moving), reverse=True), start=1):
        seen += value
        if value > (seen - free) / count or count == 1:
            cut = (seen - free) / count
    for i in moving:
        result[i] = max(target[i] - cut, 0.0)
    return tuple(result)


def move_entry(
    values: Sequence[float], index: int, value: float, low: float, high: float, hold_mean: bool
) -> tuple[float, ...]:
    """The values after one of them was moved, all within `low` to `high`.

    With the mean held, the others give way in proportion to their room, and the moved one is limited to what
    they can give; without, they stay.

    Args:
        values: numbers within the bounds.
        index: which one is moved.
        value: where to.
        low, high: the bounds of every entry.
        hold_mean: whether the arithmetic mean stays.

    Raises:
        BadInput: if there is no such entry, or the value is not a finite number.
    """
    values = [float(entry) for entry in values]
    _check(len(values), index, value)
    value = min(max(float(value), low), high)
    if not hold_mean:
        values[index] = value
        return tuple(values)
    wanted = value - values[index]
    others = [i for i in range(len(values)) if i != index]
    room = [values[i] - low if wanted > 0.0 else high - values[i] for i in others]
    total = sum(room)
    if total <= 0.0:
        return tuple(values)
    part = min(abs(wanted) / total, 1.0)
    sign = 1.0 if wanted > 0.0 else -1.0
    # All of its room may round to just beyond the bound.
    for i, free in zip(others, room, strict=True):
        values[i] = min(max(values[i] - sign * part * free, low), high)
    values[index] = value if part < 1.0 else min(max(values[index] + sign * total, low), high)
    return tuple(values)


def _check(length: int, index: int, value: float) -> None:
    if not 0 <= index < length:
        raise BadInput(f"There is no entry {index + 1} among {length}.")
    if not math.isfinite(value):
        raise BadInput(f"{value} is not a number to move an entry to. Write it like 0.35.")
