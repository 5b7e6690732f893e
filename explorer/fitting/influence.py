"""Which points make the fit what it is: what the coefficients would be without one of them, or without a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.curvature import Curvature
from explorer.fitting.refit import gradient, refit
from explorer.fitting.target import Asked, Target

if TYPE_CHECKING:
    from explorer.fitting.solution import Fit


@dataclass(frozen=True)
class Influence:
    """What each of the n points does to a fit, to first order.

    Args:
        result: the fit.
        leverage: (n,), from 0 to 1: how much of a point's own measurement its fitted value takes up.
        residual: (n,), measured minus fitted ln L as it would be had the point been left out.
        shift: (n,), how far leaving a point out moves the coefficients, in standard errors: the root of
            d' V^-1 d / q with d the move and V the coefficients' covariance.
        moves: (n, q), d itself: of the logarithm of a log coefficient, of any other coefficient itself.
        names: of the q coefficients that lie between their bounds.
    """

    result: Fit
    leverage: np.ndarray
    residual: np.ndarray
    shift: np.ndarray
    moves: np.ndarray
    names: tuple[str, ...]
    _curvature: Curvature = field(repr=False, compare=False)

    def largest(self, count: int = 5) -> np.ndarray:
        """Numbers of the points whose absence moves the coefficients most, the first first."""
        return np.argsort(-self.shift)[:count]

    def movers(self, asked: Asked, count: int = 5, group: str | None = None) -> Movers:
        """The few points that together move a number furthest in one direction, and where it goes without them.

        Moves of single points add up to first order, so the largest of one sign are the set sought (Broderick,
        Giordano and Meager 2020); then the law is fitted without them.

        Args:
            asked: as `explorer.fitting.profile.profile`, for one number.
            count: how many points.
            group: of a fit with groups, the one meant.

        Raises:
            BadInput: the target makes no sense, or too few points would be left.
        """
        problem, theta = self.result._problem, self.result._minima[0]
        target = Target(problem, asked, theta, group)
        if target.shape != ():
            raise BadInput("Influence is told of one number at a time: give single values for the variables.")
        row = np.zeros(1, int)
        slope = gradient(target, theta[None], row)[0][self._curvature.inner]
        moves = self.moves @ slope
        order = np.argsort(moves)
        low, high = order[:count], order[::-1][:count]
        rows = low if -moves[low].sum() > moves[high].sum() else high
        now = target(theta[None], row)
        first_order = float(target.told(now + moves[rows].sum()))
        without = self._minimum_without(rows)
        return Movers(
            name=target.name,
            rows=tuple(int(k) for k in rows),
            value=float(target.told(now)),
            first_order=first_order,
            without=float(target.told(target(without[None], row))),
            coefficients=_floats(problem.coefficients(without)),
            sentence=_told(self.result, target.name, rows, float(target.told(now)), target, without),
        )

    def without(self, rows: Sequence[int] | np.ndarray) -> dict[str, float]:
        """The coefficients fitted without some points.

        Raises:
            BadInput: a number is none of a point, or too few points would be left.
        """
        return _floats(self.result._problem.coefficients(self._minimum_without(np.asarray(rows, int))))

    def _minimum_without(self, rows: np.ndarray) -> np.ndarray:
        problem, theta = self.result._problem, self.result._minima[0]
        points = len(self.leverage)
        if len(rows) and not (rows.min() >= 0 and rows.max() < points):
            raise BadInput(f"There is no point {rows.max()}: the numbers go from 0 to {points - 1}.")
        if points - len(np.unique(rows)) < len(theta):
            raise BadInput(
                f"{points - len(np.unique(rows))} points would be left for {len(theta)} coefficients: leave out fewer."
            )
        weight = np.ones(points)
        weight[rows] = 0.0
        guess = theta.copy()
        guess[self._curvature.inner] += self.moves[rows].sum(axis=0)
        starts = [self.result._minima, np.clip(guess, problem.low, problem.high)[None]]
        # And on the way there: a joint move is far, and the objective has other shallow minima.
        starts += [
            np.clip(theta + share * (guess - theta), problem.low, problem.high)[None] for share in (0.5, 2.0)
        ]
        start = np.concatenate(starts)
        found, value = refit(problem, start, weight=np.tile(weight, (len(start), 1)), steps=200)
        return found[np.argmin(value)]


@dataclass(frozen=True)
class Movers:
    """A few points that move a number most.

    Args:
        name: of the number.
        rows: numbers of the points, from 0.
        value: with all points.
        first_order: without them, by adding up their single moves.
        without: without them, fitted.
        coefficients: of that fit.
        sentence: who they are and what they do.
    """

    name: str
    rows: tuple[int, ...]
    value: float
    first_order: float
    without: float
    coefficients: dict[str, float]
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """For `json.dumps`."""
        return {**vars(self), "rows": list(self.rows)}


def influence(result: Fit) -> Influence:
    """What each point does to a fit: one Newton step from the optimum for leaving it out, all points at once.

    Raises:
        BadInput: there are no more points than coefficients.
    """
    problem = result._problem
    curvature = Curvature(problem, result._minima[0])
    pull = np.einsum("nq,qr,nr->n", curvature.basis, curvature.metric, curvature.basis)
    # Without the point the curvature is less by its own share.
    rest = 1 - np.minimum(curvature.weight * pull, 0.999)
    moves = (curvature.basis * (curvature.psi / rest)[:, None]) @ curvature.metric @ curvature.root
    covariance = curvature.covariance()
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / scale[:, None] / scale
    inverse = np.linalg.pinv(correlation, rcond=1e-12, hermitian=True)
    relative = moves / scale
    shift = np.sqrt(np.maximum(np.einsum("nq,qr,nr->n", relative, inverse, relative), 0.0) / len(scale))
    names = tuple(c.name for c, inner in zip(problem.free, curvature.inner, strict=True) if inner)
    leverage = np.sum(curvature.basis**2, axis=1)
    return Influence(result, leverage, -curvature.left_out(), shift, moves, names, curvature)


def _told(result: Fit, name: str, rows: np.ndarray, value: float, target: Target, without: np.ndarray) -> str:
    after = float(target.told(target(without[None], np.zeros(1, int))))
    who = ", ".join(str(k + 1) for k in sorted(rows))
    return f"Without points {who}{_alike(result, rows)} {name} is {after:.4g} instead of {value:.4g}."


def _alike(result: Fit, rows: np.ndarray) -> str:
    """What a set of points has in common, as ` (...)`: the smallest or largest values of something."""
    columns = result._problem.variables
    looked = {name: np.log(column) for name, column in columns.items()}
    if {"N", "D"} <= columns.keys():
        looked["D/N"] = looked["D"] - looked["N"]
    looked["loss"] = result._problem.log_loss
    chosen = np.zeros(len(result._problem), bool)
    chosen[rows] = True
    for name in sorted(looked, key=lambda name: name != "D/N"):
        for word, values in (("smallest", looked[name]), ("largest", -looked[name])):
            if not chosen.all() and values[chosen].max() < values[~chosen].min():
                count = f"{len(rows)} " if len(rows) > 1 else ""
                return f" (the {count}{word} {name})"
    return ""


def _floats(coefficients: dict[str, np.ndarray]) -> dict[str, float]:
    return {name: float(value) for name, value in coefficients.items()}
