"""How sure a fit is: the law fitted again to resampled points, all resamples at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.descent import descend
from explorer.fitting.points import checked_labels
from explorer.fitting.problem import Problem
from explorer.laws import Law


@dataclass(frozen=True)
class Ensemble:
    """The same law fitted to many resamples.

    Args:
        law: the law.
        coefficients: for every coefficient an array (n,), one value a resample.
        objective: (n,), each resample's own minimum.
    """

    law: Law
    coefficients: dict[str, np.ndarray]
    objective: np.ndarray

    def __len__(self) -> int:
        return len(self.objective)

    def predict(self, variables: Mapping[str, Any]) -> np.ndarray:
        """Every member's loss: shape (n, ...) with ... the broadcast shape of the variables."""
        arrays = {name: np.asarray(value, float) for name, value in variables.items()}
        depth = max((array.ndim for array in arrays.values()), default=0)
        members = {name: value.reshape((-1,) + (1,) * depth) for name, value in self.coefficients.items()}
        return self.law.predict(arrays, **members)

    def interval(self, variables: Mapping[str, Any], coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) of the predicted loss at `variables`: the middle `coverage` of the members.

        It covers the uncertainty of the fitted curve, not the scatter of a further measurement around it.

        Raises:
            BadInput: `coverage` is not between 0 and 1, or the variables are not the law's.
        """
        return _middle(self.predict(variables), coverage)

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
                f"choose from {', '.join(self.law.names)}, or give a function of them."
            )
        if values.shape != (len(self),):
            raise BadInput(
                f"The function returned shape {values.shape} for {len(self)} resamples: "
                "return one number for each."
            )
        lower, upper = _middle(values, coverage)
        return float(lower), float(upper)


def resample(problem: Problem, minima: np.ndarray, n: int, clusters: Any, strata: Any, seed: int) -> Ensemble:
    """The ensemble of `n` resamples; each descends from every one of `minima` (m, p) and keeps the best."""
    if int(n) != n or n < 1:
        raise BadInput(f"n is {n}: give a whole number of resamples, at least 1.")
    points = len(problem.log_loss)
    cluster = np.arange(points) if clusters is None else checked_labels("clusters", clusters, points)
    stratum = np.zeros(points, int) if strata is None else checked_labels("strata", strata, points)
    weight = draw_counts(cluster, stratum, int(n), np.random.default_rng(seed))
    starts = np.tile(minima, (int(n), 1))
    theta, value = descend(problem, starts, np.repeat(weight, len(minima), axis=0), steps=40)
    best = np.argmin(value.reshape(int(n), -1), axis=1) + np.arange(int(n)) * len(minima)
    return Ensemble(problem.law, problem.coefficients(theta[best]), value[best])


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
    lower, upper = np.quantile(values, [tail, 1 - tail], axis=0)
    return lower, upper
