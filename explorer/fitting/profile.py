"""Intervals by profile likelihood: how far a number can be moved before the best fit with it becomes too bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.curvature import Curvature
from explorer.fitting.notes import Note, notes_at
from explorer.fitting.points import checked_labels
from explorer.fitting.refit import Pull, gradient, refit
from explorer.fitting.target import Asked, Target

if TYPE_CHECKING:
    from explorer.fitting.solution import Fit

# Where the profile is first looked at, in Student units on either side.
_LADDER = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.5])
# How much stiffer the spring is than the objective along the target: the place reached is an exact point of the
# profile whatever the stiffness; this one leaves it within 2 % of where it was asked.
_STIFFNESS = 50.0
# Points around an end are close if the rise between them is less than this, in Student units; so often it is looked
# for closer ones.
_CLOSE, _ROUNDS = 0.6, 6
# Degrees of freedom below which an interval rests on too little.
_FEW_DEGREES = 4.0
# Factors by which the ladder is stretched where an end has not been found.
_STRETCH = (1.0, 3.0, 10.0)


@dataclass(frozen=True)
class ProfileInterval:
    """Where a number lies, by profile likelihood.

    Args:
        name: of the target.
        value: at the fit's optimum.
        lower, upper: the ends, in the target's own unit; infinite, or the last value that a coefficient's bound
            allows, where the fit never becomes too bad.
        coverage: the nominal share of tables whose interval holds the truth.
        freedom: degrees of freedom of Student's t behind the threshold.
        open_below, open_above: whether an end was not reached.
        notes: on few clusters, on open ends, and on a place far from what was fitted.
        values, rise: the profile itself, (k,) or (..., k): values of the target, and the signed root of the rise of
            the objective in Student units there. Drawn, the middle is where |rise| is least.
    """

    name: str
    value: Any
    lower: Any
    upper: Any
    coverage: float
    freedom: Any
    open_below: Any
    open_above: Any
    notes: tuple[Note, ...]
    values: np.ndarray = field(repr=False, compare=False)
    rise: np.ndarray = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Without the profile's points, for `json.dumps`; an infinite end is None."""
        return {
            "name": self.name,
            "value": _plain(self.value),
            "lower": _plain(self.lower),
            "upper": _plain(self.upper),
            "coverage": self.coverage,
            "freedom": _plain(self.freedom),
            "open_below": _plain(self.open_below),
            "open_above": _plain(self.open_above),
            "notes": [note.to_json() for note in self.notes],
        }


def profile(
    result: Fit,
    asked: Asked,
    coverage: float = 0.9,
    clusters: Any = None,
    equal: bool = False,
    group: str | None = None,
) -> ProfileInterval:
    """The interval of a number by profile likelihood.

    The law is fitted again with the number drawn to one value after another; the interval holds the values whose
    best fit is not worse than the optimum by more than noise explains (see `explorer.fitting.curvature`). Over 1000
    made-up tables of each kind, intervals of 90 % held the truth in 90 to 91 % of tables of 120 points, in 92 to
    95 % of smaller ones, in 88 to 92 % with uneven noise, and in 91 to 93 % over runs that share errors, where those
    over single points held most numbers in 68 to 82 %. A law that is slightly wrong keeps no promise: 78 to 91 %
    (benchmarks/coverage.py).

    Args:
        result: what `fit` found.
        asked: a coefficient's name; variables, for the loss there, arrays too; or a function called with every
            coefficient as a keyword, an array (K,) each, that returns (K,), such as
            `optimal_parameters(law, C)`.
        coverage: between 0 and 1.
        clusters: one label a point where errors go together (all checkpoints of a run).
        equal: whether the noise may be taken to be equal at all points; only without clusters. The interval then
            has more degrees of freedom, and is wrong where some points are noisier than others.
        group: of a fit with groups, the one whose loss or coefficients are meant.

    Raises:
        BadInput: the target or the coverage makes no sense, there are no more points than coefficients, labels are
            not one a point, or there are fewer than two clusters.
    """
    from scipy.special import stdtrit

    codes = checked_clusters(clusters, len(result._problem))
    if not 0 < coverage < 1:
        raise BadInput(f"coverage is {coverage}: give a share between 0 and 1, e.g. 0.9.")
    search = _Search(result, asked, codes, equal, group)
    edge = stdtrit(search.freedom, 0.5 + coverage / 2)
    search.climb(edge)
    search.refine(edge)
    lower, upper = search.end(edge, -1), search.end(edge, 1)
    target = search.target
    return ProfileInterval(
        name=target.name,
        value=target.told(search.middle),
        lower=target.told(np.where(np.isnan(lower), search.limit(-1), lower)),
        upper=target.told(np.where(np.isnan(upper), search.limit(1), upper)),
        coverage=coverage,
        freedom=_shaped(search.freedom, target.shape),
        open_below=_shaped(np.isnan(lower), target.shape),
        open_above=_shaped(np.isnan(upper), target.shape),
        notes=tuple(_notes(result, asked, search, codes, np.isnan(lower) | np.isnan(upper))),
        values=_shaped(np.exp(search.reached) if target.log else search.reached, target.shape),
        rise=_shaped(search.rise, target.shape),
    )


def _notes(
    result: Fit, asked: Asked, search: _Search, clusters: np.ndarray | None, open_end: np.ndarray
) -> list[Note]:
    notes = []
    name, freedom = search.target.name, float(search.freedom.min())
    if freedom < _FEW_DEGREES:
        what = "points" if clusters is None else f"{clusters.max() + 1} clusters"
        sentence = (
            f"Only about {freedom:.2g} degrees of freedom of the {what} tell the noise of {name}: take more."
        )
        notes.append(Note("few-degrees", "caution", sentence))
    if open_end.any():
        sentence = f"The points set no end to {name} on one side or both: there it fits almost as well."
        notes.append(Note("open-end", "caution", sentence))
    if search.score.min() < search.lowest * (1 - 1e-4):
        sentence = f"On the way a slightly better fit was found ({1 - search.score.min() / search.lowest:.2%} lower)."
        notes.append(Note("lower-minimum", "info", sentence))
    if isinstance(asked, Mapping):
        notes += notes_at(result, asked)
    return notes


def profile_rise(
    result: Fit,
    asked: Asked,
    value: Any,
    clusters: Any = None,
    equal: bool = False,
    group: str | None = None,
) -> tuple[Any, Any]:
    """(signed root of the rise in Student units, degrees of freedom) with the target held at `value`.

    A value lies in the interval of a coverage if the root is not beyond Student's t for it.

    Args:
        value: in the target's unit and shape.

    Raises:
        BadInput: as `profile`.
    """
    search = _Search(result, asked, checked_clusters(clusters, len(result._problem)), equal, group)
    wanted = np.broadcast_to(np.asarray(value, float), search.target.shape).ravel()
    wanted = np.log(wanted) if search.target.log else wanted
    # Past the value by what the spring gives, so that it rests on the value itself.
    search.look((search.middle + (wanted - search.middle) * (1 + 1 / _STIFFNESS))[:, None])
    search.look((search.asked_for[:, -1] + wanted - search.reached[:, -1])[:, None])
    rise = np.array(
        [np.interp(w, *_rising(x, s)) for w, x, s in zip(wanted, search.reached, search.rise, strict=True)]
    )
    shape = search.target.shape
    return _shaped(rise, shape), _shaped(search.freedom, shape)


def checked_clusters(clusters: Any, points: int) -> np.ndarray | None:
    """Codes 0, 1, ... (points,), or None where no labels are given.

    Raises:
        BadInput: labels are not one a point, or all are the same.
    """
    if clusters is None:
        return None
    codes = checked_labels("clusters", clusters, points)
    if codes.max() < 1:
        raise BadInput(
            "All points lie in one cluster: their common error shows nowhere; give at least two clusters."
        )
    return codes


class _Search:
    """Points of the profile, found in batches; (m, k) for m numbers and k values of each."""

    def __init__(
        self, result: Fit, asked: Asked, clusters: np.ndarray | None, equal: bool, group: str | None
    ) -> None:
        self.problem = result._problem
        self.theta = result._minima[0]
        self.target = Target(self.problem, asked, self.theta, group)
        size = len(self.target)
        self.which = np.arange(size)
        at = np.tile(self.theta, (size, 1))
        self.middle = self.target(at, self.which)
        slope = gradient(self.target, at, self.which)
        # A coefficient at its bound is let go if it is asked for itself.
        freed = np.sum(slope != 0, axis=1).max() == 1
        curvature = Curvature(self.problem, self.theta, equal, freed & (slope != 0).any(axis=0))
        give = np.maximum(curvature.give(slope), 1e-300)
        variance, self.freedom = curvature.variance(slope, clusters)
        self.path = curvature.path(slope) / give[:, None]  # coefficients moved for a unit of the target
        self.error = np.sqrt(variance)
        self.stiffness = _STIFFNESS / give
        self.slack = self.error[:, None]
        # Twice the rise over this is the square of a Student t: for one kind of noise simply the noise.
        self.unit = np.maximum(variance / give, 1e-300)
        self.lowest = float(self.problem.objective(self.theta[None])[0])
        self.asked_for = self.middle[:, None]
        self.reached = self.middle[:, None]
        self.score = np.full((size, 1), self.lowest)
        self.places = at[:, None, :]

    @property
    def rise(self) -> np.ndarray:
        """Signed roots of the rise, (m, k)."""
        above = np.maximum(self.score - np.min(self.score, axis=1, keepdims=True), 0.0)
        return np.sign(self.reached - self.middle[:, None]) * np.sqrt(2 * above / self.unit[:, None])

    def climb(self, edge: np.ndarray) -> None:
        """Looks on both sides, further and further, until every end is passed or no further value is reached."""
        step = (self.error * edge / 1.7)[:, None]
        for stretch in _STRETCH:
            rise = self.rise
            missing = [(side * rise).max(axis=1) < edge for side in (-1, 1)]
            if not np.any(missing):
                break
            sides = [
                side * _LADDER * stretch for side, lacks in zip((-1, 1), missing, strict=True) if lacks.any()
            ]
            self.look(self.middle[:, None] + np.concatenate(sides) * step)

    def look(self, wanted: np.ndarray) -> None:
        """Adds the points of the profile near `wanted` (m, k)."""
        size, count = wanted.shape
        # A place out of reach would be drawn at with a force that hides the objective.
        low, high = self.target.ends
        asked, wanted = wanted, np.clip(wanted, low - self.slack, high + self.slack)
        straight = self.theta + (wanted - self.middle[:, None])[..., None] * self.path[:, None]
        place, score = self._pulled(wanted, straight)
        # Again from the place reached by the neighbour: the objective has other shallow minima.
        for shift in (1, -1) if count > 1 else ():
            order = np.argsort(wanted, axis=1)
            back = np.argsort(order, axis=1)
            sorted_places = np.take_along_axis(place, order[..., None], axis=1)
            moved = np.roll(sorted_places, shift, axis=1)
            start = np.take_along_axis(moved, back[..., None], axis=1)
            other, lower = self._pulled(wanted, start)
            better = self._total(other, lower, wanted) < self._total(place, score, wanted)
            place, score = np.where(better[..., None], other, place), np.where(better, lower, score)
        reached = self.target(place.reshape(-1, place.shape[-1]), np.repeat(self.which, count)).reshape(
            size, count
        )
        self.asked_for = np.concatenate([self.asked_for, asked], axis=1)
        self.reached = np.concatenate([self.reached, reached], axis=1)
        self.score = np.concatenate([self.score, score], axis=1)
        self.places = np.concatenate([self.places, place], axis=1)

    def _pulled(self, wanted: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size, count = wanted.shape
        which = np.repeat(self.which, count)

        def function(theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
            return self.target(theta, which[rows])

        pull = Pull(function, wanted.ravel(), np.repeat(self.stiffness, count))
        flat = np.clip(start.reshape(size * count, -1), self.problem.low, self.problem.high)
        theta, score = refit(self.problem, flat, pull=pull)
        return theta.reshape(size, count, -1), score.reshape(size, count)

    def _total(self, place: np.ndarray, score: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        size, count = wanted.shape
        value = self.target(place.reshape(size * count, -1), np.repeat(self.which, count)).reshape(
            size, count
        )
        return score + 0.5 * self.stiffness[:, None] * (value - wanted) ** 2

    def end(self, edge: np.ndarray, side: int) -> np.ndarray:
        """Where the rise passes the edge on one side, (m,); NaN where it never does."""
        ends = np.full(len(self.middle), np.nan)
        for k, (x, s) in enumerate(zip(self.reached, self.rise, strict=True)):
            x, s = _rising(side * x, side * s)
            if s[-1] >= edge[k]:
                ends[k] = side * np.interp(edge[k], s, x)
        return ends

    def refine(self, edge: np.ndarray) -> None:
        """Looks between the points around each end until they are close, then at the ends themselves."""
        for _ in range(_ROUNDS):
            brackets = [self._bracket(edge, side) for side in (-1, 1)]
            if all(not wide.any() for *_, wide in brackets):
                break
            between = [near + share * (far - near) for near, far, _ in brackets for share in (0.1, 0.3, 0.6)]
            self.look(np.stack(between, axis=1))
        middle = self.middle[:, None]
        wanted = np.stack([self.end(edge, -1), self.end(edge, 1)], axis=1)
        wanted = np.where(np.isnan(wanted), middle, wanted)
        self.look(middle + (wanted - middle) * (1 + 1 / _STIFFNESS))

    def _bracket(self, edge: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values (m,) on either side of an end, and whether the rise between them is too much to interpolate."""
        near, far, wide = self.middle.copy(), self.middle.copy(), np.zeros(len(edge), bool)
        for k, (x, s) in enumerate(zip(self.reached, self.rise, strict=True)):
            x, s = _rising(side * x, side * s)
            if s[-1] >= edge[k]:
                above = int(np.argmax(s >= edge[k]))
                near[k], far[k] = side * x[above - 1], side * x[above]
                wide[k] = s[above] - s[above - 1] > _CLOSE
        return near, far, wide

    def limit(self, side: int) -> np.ndarray:
        """What is told of an end that was not found: where a bound stops the target, else infinity."""
        ends = self.reached.max(axis=1) if side > 0 else self.reached.min(axis=1)
        furthest = self.asked_for.max(axis=1) if side > 0 else self.asked_for.min(axis=1)
        stopped = np.abs(furthest - ends) > 0.3 * np.abs(furthest - self.middle)
        return np.where(stopped, ends, side * np.inf)


def _rising(x: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points sorted by x, with s never falling: a shallow dip on the way out is passed over."""
    order = np.argsort(x)
    return x[order], np.maximum.accumulate(s[order])


def _shaped(values: np.ndarray, shape: tuple[int, ...]) -> Any:
    """(m, ...) as the target's shape: a plain number or an array for a single one."""
    if shape == ():
        return values[0] if values.ndim > 1 else values[0].item()
    return values.reshape(shape + values.shape[1:])


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value.tolist()]
    return None if isinstance(value, float) and not np.isfinite(value) else value
