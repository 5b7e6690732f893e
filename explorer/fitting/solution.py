"""Runs in, law out: `fit` finds the coefficients, `Fit` holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.bootstrap import Ensemble, resample
from explorer.fitting.descent import descend
from explorer.fitting.hop import hop
from explorer.fitting.notes import Note, notes_on
from explorer.fitting.points import checked_bounds, checked_fixed, checked_points
from explorer.fitting.polish import polish
from explorer.fitting.problem import Problem
from explorer.laws import Law

# The best starts, and some of the others evenly over their ranking: the best may all lie in one basin.
_BEST_STARTS, _OTHER_STARTS = 12, 8
# Widths of the rounds of jumps from the best minimum. On 40 made-up tables of 12 to 80 points with heavy
# tails the Chinchilla fit missed the lowest minimum known 7 times without jumps, never with these two rounds.
_HOPS = (1.0, 0.5)
# Starts are judged and moved on at most this many points; the best are then moved on all of them.
_STARTING_POINTS = 500


@dataclass(frozen=True)
class Fit:
    """A law fitted to points.

    Args:
        law: the law.
        coefficients: every coefficient, those held too.
        objective: the sum of Huber losses of ln L at the optimum.
        points: how many points were fitted.
        rms_log_residual: root mean square of ln L_predicted - ln L_measured.
        delta: the Huber threshold in ln L.
        fixed: the coefficients that were held.
        notes: what a reader should know before trusting the coefficients, the serious first.
    """

    law: Law
    coefficients: dict[str, float]
    objective: float
    points: int
    rms_log_residual: float
    delta: float
    fixed: dict[str, float]
    notes: tuple[Note, ...]
    _problem: Problem = field(repr=False, compare=False)
    _minima: np.ndarray = field(repr=False, compare=False)  # (m, p): the optimum, then other local minima

    def predict(self, variables: Mapping[str, Any]) -> np.ndarray:
        """The fitted law's loss at `variables`, in their broadcast shape; BadInput as of `Law.predict`."""
        return self.law.predict(variables, **self.coefficients)

    def resample(self, n: int = 200, clusters: Any = None, strata: Any = None, seed: int = 0) -> Ensemble:
        """The law fitted again to `n` bootstrap resamples of the points.

        Args:
            n: number of resamples.
            clusters: one label a point; whole clusters are drawn (e.g. all checkpoints of one run, whose
                errors go together). Single points if None.
            strata: one label a point; each stratum keeps its number of clusters. One stratum if None.
            seed: of the draws.

        Raises:
            BadInput: `n` is below 1, labels are not one a point, or a cluster lies in two strata.
        """
        return resample(self._problem, self._minima, n, clusters, strata, seed)

    def to_json(self) -> dict[str, Any]:
        """Everything but the points, as a dictionary that `json.dumps` accepts."""
        return {
            "law": self.law.name,
            "coefficients": dict(self.coefficients),
            "objective": self.objective,
            "points": self.points,
            "rms_log_residual": self.rms_log_residual,
            "delta": self.delta,
            "fixed": dict(self.fixed),
            "notes": [note.to_json() for note in self.notes],
        }


def fit(
    law: Law,
    variables: Mapping[str, Any],
    loss: Any,
    *,
    delta: float = 1e-3,
    fixed: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Fit:
    """The coefficients that minimise sum_i Huber_delta(ln L_predicted,i - ln L_measured,i).

    The recipe of Hoffmann et al. 2022, eq. 3, with another solver: starts from the law's own grid, a batched
    damped Gauss-Newton descent from the best of them, jumps from the best minimum to those beside it, and
    BFGS at the end. Repeatable: the jumps are drawn with a fixed seed.

    Args:
        law: the law to fit.
        variables: a column (n,) for each variable of the law, above zero; a single number stands for a whole
            column of it.
        loss: measured losses (n,), above zero, in the unit the law is to predict.
        delta: where the Huber loss turns from square to linear, in ln L. A large one gives least squares.
        fixed: coefficients to hold at a value.
        bounds: (low, high) of coefficients to keep within other limits than the law's own.

    Raises:
        BadInput: a column, value or name cannot be used, or there are fewer points than coefficients to fit.
    """
    held = checked_fixed(law, fixed)
    limits = checked_bounds(law, bounds)
    columns, losses = checked_points(law, variables, loss, needed=len(law.names) - len(held))
    if not np.isfinite(delta) or delta <= 0:
        raise BadInput(f"delta is {delta}: give a finite number above zero, in units of ln(loss).")
    problem = Problem(law, columns, losses, delta, held, limits)
    minima = _minima(problem, columns, losses, held, limits)
    best, objective = polish(problem, minima[0])
    minima[0] = best
    residual = problem.residual(best[None])[0]
    return Fit(
        law=law,
        coefficients={name: float(value) for name, value in problem.coefficients(best).items()},
        objective=objective,
        points=len(losses),
        rms_log_residual=float(np.sqrt(np.mean(residual**2))),
        delta=delta,
        fixed=held,
        notes=notes_on(problem, best),
        _problem=problem,
        _minima=minima,
    )


def objective(
    law: Law,
    variables: Mapping[str, Any],
    loss: Any,
    coefficients: Mapping[str, float],
    *,
    delta: float = 1e-3,
) -> float:
    """What `fit` minimises, at given coefficients.

    Raises:
        BadInput: as `fit`, and if a coefficient of the law is missing or unknown.
    """
    columns, losses = checked_points(law, variables, loss, needed=1)
    size = np.abs(np.log(law.predict(columns, **coefficients)) - np.log(losses))
    return float(np.sum(np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))))


def _minima(
    problem: Problem,
    columns: Mapping[str, np.ndarray],
    losses: np.ndarray,
    held: Mapping[str, float],
    limits: Mapping[str, tuple[float, float]],
) -> np.ndarray:
    """Distinct local minima (m, p), the best first, at most three."""
    law, few = problem.law, problem
    if len(losses) > _STARTING_POINTS:
        rows = np.random.default_rng(0).choice(len(losses), _STARTING_POINTS, replace=False)
        columns = {name: column[rows] for name, column in columns.items()}
        losses = losses[rows]
        few = Problem(law, columns, losses, problem.delta, held, limits)
    if law.starts is not None:
        starts = few.theta(law.starts(columns, losses, held))
    else:
        starts = _scattered(few)
    order = np.argsort(few.objective(starts))
    others = order[_BEST_STARTS :: max(1, len(order) // _OTHER_STARTS)]
    theta, value = descend(few, starts[np.concatenate([order[:_BEST_STARTS], others])])
    random = np.random.default_rng(0)
    for width in _HOPS if np.isfinite(value).any() else ():
        hopped = hop(few, theta[np.argmin(value)], random, width)
        theta, value = np.concatenate([theta, hopped[0]]), np.concatenate([value, hopped[1]])
    if few is not problem:
        theta, value = descend(problem, theta[np.argsort(value)[:8]])
    if not np.isfinite(value).any():
        raise BadInput(
            f"The law {law.name!r} gives no finite loss near these points from any start: "
            "check the units of the variables, or give bounds."
        )
    kept: list[int] = []
    for k in np.argsort(value):
        if np.isfinite(value[k]) and all(abs(value[k] - value[j]) > 1e-6 * value[k] for j in kept):
            kept.append(int(k))
    return theta[kept[:3]]


def _scattered(problem: Problem, count: int = 256) -> np.ndarray:
    """Starts for a law that brings none: spread evenly over its sliders' ranges, the defaults first."""
    from scipy.stats import qmc

    ends = {c.name: np.array([c.default, *c.slider]) for c in problem.free}
    default, low, high = problem.theta(ends)
    cube = qmc.Sobol(len(low), seed=0).random(count)
    return np.concatenate([default[None], low + cube * (high - low)])
