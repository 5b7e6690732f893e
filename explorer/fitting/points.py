"""The measured points of a fit, checked: every fault is named with the column and the point it is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.laws import Law


def checked_points(
    law: Law, variables: Mapping[str, Any], loss: Any
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The law's variables and the loss as float64 arrays of one length.

    Args:
        law: says which variables there must be.
        variables: a column for each of them; a single number stands for a whole column of it.
        loss: one loss per point.

    Raises:
        BadInput: a column is missing, unknown, of the wrong length or shape or not numeric, or a value is
            not finite or not above zero.
    """
    missing = [name for name in law.variables if name not in variables]
    unknown = [name for name in variables if name not in law.variables]
    if missing or unknown:
        given = ", ".join(variables) or "none"
        fault = " and ".join(
            f"{', '.join(names)} {word}"
            for names, word in ((missing, "missing"), (unknown, "unknown"))
            if names
        )
        raise BadInput(
            f"The law {law.name!r} needs the variables {', '.join(law.variables)}, but was given {given} "
            f"({fault}): give exactly the variables it needs."
        )
    losses = _column("loss", loss)
    columns = {name: _column(name, variables[name]) for name in law.variables}
    if losses.ndim == 0:
        losses = losses[None]
    for name, column in columns.items():
        if column.ndim and len(column) != len(losses):
            raise BadInput(
                f"There are {len(losses)} losses but {len(column)} values of {name}: give one value a point."
            )
        columns[name] = np.broadcast_to(column, losses.shape).copy()
    if not len(losses):
        raise BadInput("The table is empty: give at least one row a coefficient of the law.")
    for name, column in (("loss", losses), *columns.items()):
        for fault, bad in (("not a finite number", ~np.isfinite(column)), ("not above zero", ~(column > 0))):
            if bad.any():
                row = int(np.argmax(bad))
                more = f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""
                raise BadInput(
                    f"Point {row + 1} of {len(losses)} has {name} = {column[row]:g}{more}, which is {fault}: "
                    "correct the row or leave it out."
                )
    return columns, losses


def checked_enough(law: Law, weight: np.ndarray, needed: int) -> None:
    """Nothing, if enough points count.

    Raises:
        BadInput: fewer than `needed` points have a weight above zero.
    """
    counted = int((weight > 0).sum())
    if counted < needed:
        kind = "" if counted == len(weight) else " with a weight above zero"
        raise BadInput(
            f"There are {counted} points{kind}, but the law {law.name!r} has {needed} coefficients to fit: "
            f"give at least {needed} points, or hold some coefficients with fixed=."
        )


def checked_weights(weights: Any, count: int) -> np.ndarray:
    """What each point counts, (count,), float64; ones if None.

    Raises:
        BadInput: there is not one weight a point, one is negative or not finite, or all are zero.
    """
    if weights is None:
        return np.ones(count)
    weight = _column("weights", weights)
    if weight.ndim == 0:
        weight = np.full(count, float(weight))
    if len(weight) != count:
        raise BadInput(f"There are {len(weight)} weights for {count} points: give one weight a point.")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise BadInput(
            f"Point {row + 1} of {count} has weight {weight[row]:g}: give finite weights, zero or above."
        )
    if not weight.any():
        raise BadInput(
            "All weights are zero, so no point counts: give at least some points a weight above zero."
        )
    return weight


def checked_groups(
    law: Law, group: Any, own: Sequence[str], fixed: Mapping[str, float], weight: np.ndarray
) -> tuple[np.ndarray | None, tuple[str, ...], tuple[str, ...]]:
    """Each point's group as a code, the groups' names, and the coefficients of which each has its own.

    Raises:
        BadInput: there is not one label a point, `own` names something unknown or held or nothing, two labels
            are written alike, or a group has fewer points that count than coefficients of its own.
    """
    if group is None:
        return None, (), ()
    codes = checked_labels("group", group, len(weight))
    firsts = np.unique(codes, return_index=True)[1]
    labels = tuple(str(label) for label in np.asarray(group)[firsts].tolist())
    if len(set(labels)) < len(labels):
        raise BadInput("Two groups have names that are written alike: give each group a name of its own.")
    own = (own,) if isinstance(own, str) else tuple(own)
    if not own:
        raise BadInput("own is empty: name the coefficients of which each group has its own, e.g. ('E',).")
    for name in own:
        _known(law, name, "own")
        if name in fixed:
            raise BadInput(
                f"own names {name}, which fixed holds for all groups: leave it out of one of them."
            )
    points = np.bincount(codes, weight > 0)
    if (points < len(own)).any():
        fewest = int(np.argmin(points))
        raise BadInput(
            f"Group {labels[fewest]!r} has {int(points[fewest])} points that count, but {len(own)} coefficients of "
            f"its own ({', '.join(own)}): give it more points, or share some of them."
        )
    return codes, labels, tuple(name for name in law.names if name in own)


def checked_fixed(
    law: Law, fixed: Mapping[str, float] | None, limits: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """The coefficients that are held, as floats.

    Raises:
        BadInput: a name is unknown, a value is not finite, a log coefficient is not above zero, a value lies
            outside its limits, or nothing is left to fit.
    """
    held: dict[str, float] = {}
    for name, value in (fixed or {}).items():
        _known(law, name, "fixed")
        held[name] = _number(value, f"fixed gives {name}")
        log = law.coefficients[law.names.index(name)].log
        if not np.isfinite(held[name]) or (log and held[name] <= 0):
            kind = "finite number above zero" if log else "finite number"
            raise BadInput(f"fixed gives {name} = {value}: give a {kind}.")
        low, high = limits[name]
        if not low <= held[name] <= high:
            raise BadInput(
                f"fixed gives {name} = {held[name]:g}, outside its limits {low:g} and {high:g}: "
                "give a value between them."
            )
    if len(held) == len(law.names):
        raise BadInput(f"Every coefficient of the law {law.name!r} is held: leave at least one to fit.")
    return held


def checked_bounds(
    law: Law, bounds: Mapping[str, tuple[float, float]] | None
) -> dict[str, tuple[float, float]]:
    """(low, high) of every coefficient: the law's own where `bounds` has none.

    Raises:
        BadInput: a name is unknown, low < high fails, or the low end of a log coefficient is not above zero.
    """
    limits = {c.name: (c.low, c.high) for c in law.coefficients}
    for name, pair in (bounds or {}).items():
        _known(law, name, "bounds")
        try:
            low, high = pair
        except (TypeError, ValueError):
            raise BadInput(
                f"bounds gives {name} the limits {pair!r}: give two numbers, the lower first."
            ) from None
        low, high = (_number(end, f"bounds gives {name}") for end in (low, high))
        log = law.coefficients[law.names.index(name)].log
        if not low < high or (log and low <= 0):
            kind = "two numbers above zero, the lower first" if log else "two numbers, the lower first"
            raise BadInput(f"bounds gives {name} between {low:g} and {high:g}: give {kind}.")
        limits[name] = (low, high)
    return limits


def checked_labels(name: str, labels: Any, count: int) -> np.ndarray:
    """Integer codes 0, 1, ... of one label a point, shape (count,).

    Raises:
        BadInput: there is not one label a point.
    """
    labels = np.asarray(labels)
    if labels.shape != (count,):
        raise BadInput(f"{name} has shape {labels.shape} for {count} points: give one label a point.")
    # Labels of mixed types cannot be sorted, so codes are dealt out in order of appearance.
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in labels.tolist()])


def _known(law: Law, name: str, argument: str) -> None:
    if name not in law.names:
        raise BadInput(
            f"{argument} names {name!r}, which is no coefficient of the law {law.name!r}: "
            f"choose from {', '.join(law.names)}."
        )


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{where} = {value!r}: give a number.") from None


def _column(name: str, values: Any) -> np.ndarray:
    try:
        column = np.asarray(values, float)
    except (TypeError, ValueError):
        raise BadInput(f"The column {name} holds something that is no number: give numbers only.") from None
    if column.ndim > 1:
        raise BadInput(f"The column {name} has shape {column.shape}: give one value a point.")
    return column
