"""Runs in, law out: `fit` finds the coefficients, `Fit` holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from explorer.fitting.bootstrap import Ensemble, resample
from explorer.fitting.notes import Note, notes_on
from explorer.fitting.penalty import Penalty, penalty_of
from explorer.fitting.points import (
    checked_bounds,
    checked_enough,
    checked_fixed,
    checked_groups,
    checked_points,
    checked_weights,
)
from explorer.fitting.problem import Problem, of_group
from explorer.fitting.search import Certificate, search
from explorer.laws import Law


@dataclass(frozen=True)
class Fit:
    """A law fitted to points.

    Args:
        law: the law.
        coefficients: every coefficient, those held too. In a fit of groups each group's own one is named after
            it: E[c4].
        objective: the sum of weighted penalties at the optimum.
        points: how many points were fitted: those with a weight above zero.
        rms_log_residual: weighted root mean square of ln L_predicted - ln L_measured.
        delta: the Huber threshold in ln L, where the penalty has one.
        fixed: the coefficients that were held.
        penalty: what a residual cost.
        certificate: how the search went, the grounds to believe that this is the lowest minimum.
        own: coefficients of which each group has its own.
        groups: the groups' names.
    """

    law: Law
    coefficients: dict[str, float]
    objective: float
    points: int
    rms_log_residual: float
    delta: float
    fixed: dict[str, float]
    penalty: Penalty
    certificate: Certificate
    own: tuple[str, ...]
    groups: tuple[str, ...]
    _problem: Problem = field(repr=False, compare=False)
    _minima: np.ndarray = field(repr=False, compare=False)  # (m, p): the optimum, then other local minima

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know before trusting the coefficients, the serious first."""
        problem = self._problem
        counted = problem if problem.weight.all() else problem.part(problem.weight > 0)
        return notes_on(counted, self._minima[0])

    def of_group(self, group: str | None = None) -> dict[str, float]:
        """The law's coefficients as a group has them; all of them, without a name, in a fit without groups.

        Raises:
            BadInput: `group` is none of the fit's groups.
        """
        return of_group(self.coefficients, self.own, self.groups, group)

    def predict(self, variables: Mapping[str, Any], group: str | None = None) -> np.ndarray:
        """The fitted law's loss at `variables`, in their broadcast shape; for one of the groups, if there are some.

        Raises:
            BadInput: as of `Law.predict` and `of_group`.
        """
        return self.law.predict(variables, **self.of_group(group))

    def resample(self, n: int = 200, clusters: Any = None, strata: Any = None, seed: int = 0) -> Ensemble:
        """The law fitted again to `n` bootstrap resamples of the points.

        Args:
            n: number of resamples.
            clusters: one label a point; whole clusters are drawn (e.g. all checkpoints of one run, whose
                errors go together). Single points if None.
            strata: one label a point; each stratum keeps its number of clusters. If None, the fit's groups, as
                long as no cluster lies in two of them; else one stratum.
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
            "penalty": self.penalty.name,
            "delta": self.delta,
            "fixed": dict(self.fixed),
            "own": list(self.own),
            "groups": list(self.groups),
            "certificate": self.certificate.to_json(),
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
    penalty: str | Penalty = "huber",
    weights: Any = None,
    group: Any = None,
    own: Sequence[str] = ("E",),
) -> Fit:
    """The coefficients that minimise sum_i weight_i penalty(ln L_predicted,i - ln L_measured,i).

    By default the objective of Hoffmann et al. 2022, eq. 3, the sum of Huber losses, with another solver:
    starts from the law's own grid, where what is linear is solved for; a batched damped Gauss-Newton descent
    from the best of them; jumps from the best minimum, unless the starts agree on it; Newton's method at the
    end. Repeatable: the jumps are drawn with a fixed seed.

    Args:
        law: the law to fit.
        variables: a column (n,) for each variable of the law, above zero; a single number stands for a whole
            column of it.
        loss: measured losses (n,), above zero, in the unit the law is to predict.
        delta: where the Huber loss turns from square to linear, in ln L; of no effect with other penalties.
        fixed: coefficients to hold at a value.
        bounds: (low, high) of coefficients to keep within other limits than the law's own.
        penalty: what a residual costs: "huber", "log-squares" (least squares of ln L), "squares" (of the loss
            itself), "quantile" (the median), or an object of `explorer.fitting.penalty`, e.g. Quantile(0.9).
        weights: what each point counts, (n,), zero or above; each 1 if None. A weight of 2 is a point seen twice.
        group: one label a point, e.g. the corpus: every group has its own value of the coefficients in `own`
            and shares all others.
        own: names of coefficients; without `group` of no effect.

    Raises:
        BadInput: a column, value or name cannot be used, or fewer points count than there are coefficients to fit.
    """
    limits = checked_bounds(law, bounds)
    held = checked_fixed(law, fixed, limits)
    chosen = penalty_of(penalty, delta)
    columns, losses = checked_points(law, variables, loss)
    weight = checked_weights(weights, len(losses))
    codes, labels, owned = checked_groups(law, group, own, held, weight)
    problem = Problem(law, columns, losses, chosen, held, limits, weight, codes, labels, owned)
    checked_enough(law, weight, len(problem.free))
    minima, values, certificate = search(problem)
    residual = problem.residual(minima[:1])[0]
    return Fit(
        law=law,
        coefficients={name: float(value) for name, value in problem.coefficients(minima[0]).items()},
        objective=float(values[0]),
        points=int((weight > 0).sum()),
        rms_log_residual=float(np.sqrt(np.average(residual**2, weights=weight))),
        delta=float(getattr(chosen, "delta", delta)),
        fixed=held,
        penalty=chosen,
        certificate=certificate,
        own=owned,
        groups=labels,
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
    penalty: str | Penalty = "huber",
    weights: Any = None,
) -> float:
    """What `fit` minimises, at given coefficients, without groups.

    Raises:
        BadInput: as `fit`, and if a coefficient of the law is missing or unknown.
    """
    columns, losses = checked_points(law, variables, loss)
    weight = checked_weights(weights, len(losses))
    residual = np.log(law.predict(columns, **coefficients)) - np.log(losses)
    return float(np.sum(weight * penalty_of(penalty, delta).value(residual, losses)))
