"""How well one order agrees with another, and how sure that is over seeds."""

from __future__ import annotations

import math

import numpy as np

DRAWS = 4000


def kendall_tau(predicted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Kendall's tau: concordant minus discordant pairs, over the pairs that `predicted` puts in an order.

    Args:
        predicted: (n,).
        found: (..., n), the last axis in the order of `predicted`.

    Returns:
        (...), between -1 and 1; nan if `predicted` orders nothing.
    """
    first, second = np.triu_indices(len(predicted), 1)
    wanted = np.sign(predicted[first] - predicted[second])
    seen = np.sign(found[..., first] - found[..., second])
    pairs = np.abs(wanted).sum()
    return (wanted * seen).sum(-1) / pairs if pairs else np.full(found.shape[:-1], math.nan)


def tau_interval(
    predicted: np.ndarray, found: np.ndarray, coverage: float = 0.9, seed: int = 0
) -> tuple[float, float]:
    """Where the tau of the means over seeds lies, given how the seeds scatter.

    The means are redrawn from the multivariate t distribution with the seeds' own covariance and n - 1 degrees of
    freedom: for two conditions this is Student's interval of their difference. One seed says nothing: (-1, 1).

    Args:
        predicted: (k,).
        found: one row a seed, (n, k).
    """
    count = len(found)
    if count < 2:
        return (-1.0, 1.0)
    rng = np.random.default_rng(seed)
    deviations = found - found.mean(axis=0)
    scale = np.sqrt((count - 1) / rng.chisquare(count - 1, (DRAWS, 1))) / math.sqrt(count * (count - 1))
    means = found.mean(axis=0) + scale * (rng.standard_normal((DRAWS, count)) @ deviations)
    low, high = np.quantile(kendall_tau(predicted, means), [0.5 - coverage / 2, 0.5 + coverage / 2])
    return float(low), float(high)


def sign_test(wins: int, seeds: int) -> float:
    """Chance of so uneven a split of fair coins, or a more uneven one, to either side."""
    tail = sum(math.comb(seeds, k) for k in range(min(wins, seeds - wins) + 1)) / 2**seeds
    return min(1.0, 2 * tail)
