"""How sure a fit is: the law fitted again to resampled points, all resamples at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.descent import SAME, descend
from explorer.fitting.hop import jump, spread_at
from explorer.fitting.points import checked_labels
from explorer.fitting.problem import Problem, of_group
from explorer.laws import Law

# Resamples solved first, one wave after the other: where they end is where the others start.
_WAVES = (64, 512)
# Every resample gets further starts until two in a row lowered at most this share of them, or so many are made.
_RARE, _MOST_LOOKS = 5e-4, 12
# By turns the best of a few other resamples' ends, and a jump from its own. A few are better than many: the best
# of many lies in the minimum that is known.
_POOL, _WIDTHS = 16, (1.0, 2.0, 0.5)


@dataclass(frozen=True)
class Ensemble:
    """The same law fitted to many resamples.

    Args:
        law: the law.
        coefficients: for every coefficient an array (n,), one value a resample.
        objective: (n,), each resample's own minimum.
        looks: how many further starts each resample had after its first.
        lowered: the share of resamples of which one of the last two starts still found a lower minimum; close
            to zero, it says that hardly a resample is left in a worse minimum than it has.
        own: coefficients of which each group of points has its own, and
        groups: the groups' names.
    """

    law: Law
    coefficients: dict[str, np.ndarray]
    objective: np.ndarray
    looks: int = 0
    lowered: float = 0.0
    own: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.objective)

    def predict(self, variables: Mapping[str, Any], group: str | None = None) -> np.ndarray:
        """Every member's loss: shape (n, ...) with ... the broadcast shape of the variables.

        Raises:
            BadInput: the variables are not the law's, or `group` is missing or unknown in a fit of groups.
        """
        arrays = {name: np.asarray(value, float) for name, value in variables.items()}
        depth = max((array.ndim for array in arrays.values()), default=0)
        chosen = of_group(self.coefficients, self.own, self.groups, group)
        members = {name: value.reshape((-1,) + (1,) * depth) for name, value in chosen.items()}
        return self.law.predict(arrays, **members)

    def interval(
        self, variables: Mapping[str, Any], coverage: float = 0.9, group: str | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) of the predicted loss at `variables`: the middle `coverage` of the members.

        It covers the uncertainty of the fitted curve, not the scatter of a further measurement around it.

        Raises:
            BadInput: `coverage` is not between 0 and 1, or as of `predict`.
        """
        return _middle(self.predict(variables, group), coverage)

    def coefficient_interval(
        self, name: str | Callable[..., np.ndarray], coverage: float = 0.9
    ) -> tuple[float, float]:
        """(lower, upper) of a coefficient, or of any number made from the coefficients.

        Args:
            name: a coefficient's name; or a function called with every coefficient as a keyword, an array
                (n,) each, that returns an array (n,).
            coverage: the share of members between the two ends.

        Raises:
            BadInput: the name is unknown, the function's result has another shape, or `coverage` is not
                between 0 and 1.
        """
        if callable(name):
            values = np.asarray(name(**self.coefficients), float)
        elif name in self.coefficients:
            values = self.coefficients[name]
        else:
            raise BadInput(
                f"The law {self.law.name!r} has no coefficient {name!r}: "
                f"choose from {', '.join(self.coefficients)}, or give a function of them."
            )
        if values.shape != (len(self),):
            raise BadInput(
                f"The function returned shape {values.shape} for {len(self)} resamples: "
                "return one number for each."
            )
        lower, upper = _middle(values, coverage)
        return float(lower), float(upper)


def resample(problem: Problem, minima: np.ndarray, n: int, clusters: Any, strata: Any, seed: int) -> Ensemble:
    """The ensemble of `n` resamples, each at the lowest minimum found for it; `minima` (m, p) are the fit's."""
    if int(n) != n or n < 1:
        raise BadInput(f"n is {n}: give a whole number of resamples, at least 1.")
    points = len(problem)
    cluster = np.arange(points) if clusters is None else checked_labels("clusters", clusters, points)
    if strata is not None:
        stratum = checked_labels("strata", strata, points)
    else:
        stratum = _groups_apart(problem, cluster)
    random = np.random.default_rng(seed)
    counts = draw_counts(cluster, stratum, int(n), random)
    theta, value = _first(problem, minima, counts)
    spread = spread_at(problem, minima[0])
    lowered: list[float] = []
    while len(lowered) < _MOST_LOOKS and not (len(lowered) > 1 and max(lowered[-2:]) <= _RARE):
        looks = len(lowered)
        if looks % 2:
            width = np.full(len(theta), _WIDTHS[looks // 2 % len(_WIDTHS)])
            start = jump(problem, theta, spread, width, random)
        else:
            start = _from_others(problem, theta, minima, counts, random)
        found = descend(problem, start, counts, damping=0.1)
        lowered.append(float(np.mean(found.value < value * (1 - SAME))))
        lower = found.value < value
        theta[lower], value[lower] = found.theta[lower], found.value[lower]
    coefficients = problem.coefficients(theta)
    return Ensemble(
        problem.law, coefficients, value, len(lowered), max(lowered[-2:]), problem.own, problem.labels
    )


def _first(problem: Problem, minima: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A minimum (n, p) of each resample and its objective (n,)."""
    theta, value = np.empty((len(counts), minima.shape[1])), np.empty(len(counts))
    done = 0
    for end in (*(wave for wave in _WAVES if wave < len(counts)), len(counts)):
        part = slice(done, end)
        pool = np.concatenate([minima, theta[:done]])
        start = pool[np.argmin(_costs(problem, pool, counts[part]), axis=1)]
        found = descend(problem, start, counts[part], damping=0.1)
        theta[part], value[part], done = found.theta, found.value, end
    return theta, value


def _from_others(
    problem: Problem,
    theta: np.ndarray,
    minima: np.ndarray,
    counts: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """For each resample the end of another that suits it best, among a few drawn ones and the fit's minima."""
    drawn = random.choice(len(theta), min(_POOL, len(theta)), replace=False)
    pool = np.concatenate([theta[drawn], minima])
    cost = _costs(problem, pool, counts)
    cost[drawn, np.arange(len(drawn))] = np.inf  # not its own
    return pool[np.argmin(cost, axis=1)]


def _costs(problem: Problem, pool: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The objective of every resample (n, points) at every theta of the pool (m, p): (n, m)."""
    each = problem.penalty.value(problem.residual(pool), problem.loss) * problem.weight
    return counts @ np.where(np.isfinite(each), each, 1e300 / counts.shape[1] ** 2).T


def _groups_apart(problem: Problem, cluster: np.ndarray) -> np.ndarray:
    """Strata: the groups, so that none is lost; one stratum if a cluster has points in several."""
    if problem.group is not None:
        home = np.full(cluster.max() + 1, -1)
        home[cluster] = problem.group
        if (home[cluster] == problem.group).all():
            return problem.group
    return np.zeros(len(problem), int)


def draw_counts(cluster: np.ndarray, stratum: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """How often each point counts in each resample, (n, points): whole clusters, drawn within their stratum.

    Args:
        cluster: codes 0, 1, ... of each point's cluster.
        stratum: codes of each point's stratum.

    Raises:
        BadInput: a cluster lies in two strata.
    """
    home = np.full(cluster.max() + 1, -1)
    home[cluster] = stratum
    if (home[cluster] != stratum).any():
        raise BadInput("A cluster has points in two strata: give every point of a cluster the same stratum.")
    counts = np.zeros((n, len(home)))
    for code in range(stratum.max() + 1):
        members = np.flatnonzero(home == code)
        draws = random.integers(len(members), size=(n, len(members)))
        np.add.at(counts, (np.arange(n)[:, None], members[draws]), 1.0)
    return counts[:, cluster]


def _middle(values: np.ndarray, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    if not 0 < coverage < 1:
        raise BadInput(f"coverage is {coverage}: give a share between 0 and 1, e.g. 0.9.")
    tail = (1 - coverage) / 2
    # Of n members the k-th smallest has on average a share k / (n + 1) below it.
    lower, upper = np.quantile(values, [tail, 1 - tail], axis=0, method="weibull")
    return lower, upper
