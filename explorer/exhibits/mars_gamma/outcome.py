"""What a run measured, seed by seed: final and best losses over gamma at one rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.records import Measured


class Outcome:
    """Losses of one rate, of the seeds whose every condition was trained to the end.

    Args:
        measured: of the whole run.
        level: "high" or "low".
        form: "exact" (gamma = 0 among them) or "approximate".

    Attributes:
        gammas: (G,), increasing.
        seeds: (S,), increasing.
        final: (G, S) held-out losses at the end.
        best: (G, S) the least of each curve.
        points: measured points behind them.
    """

    def __init__(self, measured: Measured, level: str, form: str = "exact") -> None:
        found: dict[tuple[float, int], np.ndarray] = {}
        gammas: set[float] = set()
        for series, x, y in measured.where(level=level, form=form):
            if series.figure != f"loss_{level}":
                continue
            gamma, seed = float(series.labels["gamma"]), int(series.labels["seed"])
            gammas.add(gamma)
            if len(x) and x[-1] == series.labels["last"]:
                found[gamma, seed] = y
        self.gammas = sorted(gammas)
        seeds = {seed for _, seed in found}
        self.seeds = sorted(s for s in seeds if all((gamma, s) in found for gamma in self.gammas))
        shape = (len(self.gammas), len(self.seeds))
        curves = [[found[gamma, seed] for seed in self.seeds] for gamma in self.gammas]
        self.final = np.array([[y[-1] for y in row] for row in curves], float).reshape(shape)
        self.best = np.array([[y.min() for y in row] for row in curves], float).reshape(shape)
        self.points = sum(len(y) for row in curves for y in row)

    def __bool__(self) -> bool:
        """Whether there is anything to compare: a whole seed, with gamma = 0 and 1."""
        return bool(self.seeds) and {0.0, 1.0} <= set(self.gammas)

    def at(self, gamma: float) -> list[float]:
        """Final losses of one gamma, seed by seed."""
        return self.final[self.gammas.index(gamma)].tolist()

    def best_between(self) -> list[float]:
        """Final losses, seed by seed, of the best gamma strictly between 0 and 1, which the other seeds chose.

        Choosing it by the seed that is measured would make it look better than it is. One seed alone has no others.
        """
        inside = self.final[[k for k, gamma in enumerate(self.gammas) if 0 < gamma < 1]]
        if len(self.seeds) < 2:
            return inside.min(axis=0).tolist()
        others = inside.sum(axis=1, keepdims=True) - inside
        return inside[others.argmin(axis=0), np.arange(len(self.seeds))].tolist()

    def argmins(self) -> np.ndarray:
        """The gamma of the least final loss, seed by seed (S,)."""
        return np.array(self.gammas)[self.final.argmin(axis=0)]


def last_values(measured: Measured, figure: str, level: str) -> Mapping[float, Sequence[float]]:
    """By x: the values, one a seed, of a figure that has gamma on its x axis."""
    found: dict[float, list[float]] = {}
    for series, x, y in measured.where(level=level):
        if series.figure == figure:
            for at, value in zip(x.tolist(), y.tolist(), strict=True):
                found.setdefault(at, []).append(value)
    return found


def log_factor(measured: np.ndarray, predicted: float) -> np.ndarray:
    """ln of measured over predicted gamma, seed by seed; a predicted 0 gives infinity."""
    return np.log(measured / predicted) if predicted > 0 else np.full(len(measured), math.inf)
