"""The lowest minimum of a fit: many starts, jumps from the best, and a count of how they ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.descent import descend, same
from explorer.fitting.hop import jump, spread_at
from explorer.fitting.problem import Problem

# Of a dozen starts the best, and some of the others evenly over their ranking: the best may all lie in one basin.
_BEST_STARTS, _OTHER_STARTS = 7, 5
# When so many starts have settled at the best minimum the others are given up; without a rival among those
# that settled, no jumps follow. On 800 made-up tables of 8 to 120 points, half of them with gross errors, the lowest
# minimum known from hundreds of starts was missed twice: of the law with six coefficients, on 9 and on 25 points.
_ENOUGH_STARTS, _ENOUGH_JUMPS = 4, 6
# Widths of a dozen jumps; rounds go on until one finds nothing lower, at most so many.
_WIDTHS, _ROUNDS = (0.5, 1.0, 2.0) * 4, 4
# Small tables have more minima and cost less: up to so many dozens of starts and jumps, points times dozens at most.
_MOST_DOZENS, _POINT_DOZENS = 5, 250
# Points on which all starts of a law are judged, and on which the chosen ones first descend.
_JUDGED_POINTS, _STARTING_POINTS = 60, 500
_MOST_MINIMA = 8


@dataclass(frozen=True)
class Certificate:
    """How the search for the lowest minimum went: the grounds to believe that it is the lowest.

    Args:
        starts: descents begun from starts spread over the law's range.
        reached: how many of them ended at the optimum, within a millionth of its objective.
        given_up: how many were stopped before they ended, because enough others had agreed or they crept.
        jumps: descents begun from jumps around the best minimum; none if the starts agreed.
        returned: how many of them ended at the optimum.
        next: by how much, relative to the optimum, the next distinct minimum found is higher; None if every
            descent that ended did so at the optimum.
        settled: whether the optimum is a minimum to the last digits; if not, the objective falls on along a
            valley so slowly that the search stopped.
    """

    starts: int
    reached: int
    given_up: int
    jumps: int
    returned: int
    next: float | None
    settled: bool

    def __str__(self) -> str:
        jumped = f" and {self.returned} of {self.jumps} jumps from it" if self.jumps else ""
        stopped = f" ({self.given_up} starts were stopped before their end)" if self.given_up else ""
        other = (
            "no other minimum was found"
            if self.next is None
            else f"the next minimum found is higher by {self.next:.2g} of it"
        )
        still = "" if self.settled else "; it had not come to rest"
        return f"{self.reached} of {self.starts} starts{jumped} reached the optimum{stopped}; {other}{still}."

    def to_json(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts."""
        return asdict(self)


def search(problem: Problem) -> tuple[np.ndarray, np.ndarray, Certificate]:
    """Distinct local minima (m, p), the lowest first, their objectives (m,), and how they were found.

    Repeatable: the jumps are drawn with a fixed seed.

    Raises:
        BadInput: the law gives no finite loss from any start.
    """
    few = problem
    if len(problem) > _STARTING_POINTS:
        rows = np.random.default_rng(0).choice(len(problem), _STARTING_POINTS, replace=False)
        few = problem.part(np.sort(rows))
    dozens = int(np.clip(_POINT_DOZENS // len(few), 1, _MOST_DOZENS))
    theta, value, settled = descend(few, chosen_starts(few, dozens), enough=_ENOUGH_STARTS)
    if not np.isfinite(value).any():
        raise BadInput(
            f"The law {problem.law.name!r} gives no finite loss near these points from any start: "
            "check the units of the variables, or give bounds."
        )
    starts = len(theta)
    best = settled & same(few, value, value.min())
    if best.sum() < _ENOUGH_STARTS or (settled & ~best).any():
        width, random = np.tile(_WIDTHS, dozens), np.random.default_rng(0)
        for _ in range(_ROUNDS):
            lowest, centre = value.min(), theta[np.argmin(value)]
            start = jump(few, np.tile(centre, (len(width), 1)), spread_at(few, centre), width, random)
            found = descend(few, start, enough=_ENOUGH_JUMPS, damping=0.1)
            theta = np.concatenate([theta, found.theta])
            value = np.concatenate([value, found.value])
            settled = np.concatenate([settled, found.settled])
            if same(few, lowest, value.min()):
                break
    if few is not problem:
        # One of all that ended in the same place goes on, on all points.
        ends = np.array(_distinct(few, value, settled)[:_MOST_MINIMA])
        alike = np.stack([same(few, value, value[k]) & same(few, value[k], value) for k in ends])
        place = np.where(alike.any(axis=0), np.argmax(alike, axis=0), -1)
        found = descend(problem, theta[ends], damping=0.1)
        theta, settled = found.theta[place], found.settled[place] & (place >= 0)
        value = np.where(place >= 0, found.value[place], np.inf)
    kept = _distinct(problem, value, settled)[:_MOST_MINIMA]
    minima, polished, at_rest = descend(problem, theta[kept], steps=12, exact=True, damping=1e-4)
    order = np.argsort(polished)
    minima, polished = minima[order], polished[order]
    as_low = same(problem, value, polished[0])
    higher = polished[~same(problem, polished, polished[0])]
    certificate = Certificate(
        starts=starts,
        reached=int(as_low[:starts].sum()),
        given_up=int((~as_low & ~settled)[:starts].sum()),
        jumps=len(theta) - starts,
        returned=int(as_low[starts:].sum()),
        next=float(higher[0] / polished[0] - 1) if len(higher) and polished[0] > 0 else None,
        settled=bool(at_rest[order[0]]),
    )
    return minima, polished, certificate


def chosen_starts(problem: Problem, dozens: int) -> np.ndarray:
    """The starts of the law that promise most, and some others, (about 12 dozens, p)."""
    base = problem.pooled() if problem.own else problem
    if len(base) > _JUDGED_POINTS:
        base = base.part(np.linspace(0, len(base) - 1, _JUDGED_POINTS).astype(int))
    if base.law.starts is not None:
        with np.errstate(all="ignore"):
            starts = base.theta(base.law.starts(base.variables, base.loss, base.fixed))
    else:
        starts = _scattered(base)
    order = np.argsort(base.objective(starts))
    best = _BEST_STARTS * dozens
    others = order[best :: max(1, len(order) // (_OTHER_STARTS * dozens))]
    starts = starts[np.concatenate([order[:best], others])]
    return problem.unpooled(starts) if problem.own else starts


def _distinct(problem: Problem, value: np.ndarray, settled: np.ndarray) -> list[int]:
    """Indices of the lowest, and of the settled minima that differ from it and from each other, sorted."""
    kept: list[int] = []
    for k in np.argsort(value):
        if not kept or (settled[k] and not same(problem, value[k], value[kept[-1]])):
            kept.append(int(k))
    return kept


def _scattered(problem: Problem, count: int = 256) -> np.ndarray:
    """Starts for a law that brings none: spread evenly over its sliders' ranges, the defaults first."""
    from scipy.stats import qmc

    ends = {c.name: np.array([c.default, *c.slider]) for c in problem.free}
    default, low, high = problem.theta(ends)
    cube = qmc.Sobol(len(low), seed=0).random(count)
    return np.concatenate([default[None], low + cube * (high - low)])
