"""Which mixtures are trained, fitted and held out, and the search for the best of a predicted mean loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.simplex import lattice

LEAST = 0.05
"""No mixture is trained with less of a domain: what a law says of an unseen domain is nobody's prediction."""
SEARCH_STEPS = {2: 200, 3: 40, 4: 16, 5: 10, 6: 8, 7: 6, 8: 5}


def inwards(weights: np.ndarray, least: float = LEAST) -> np.ndarray:
    """Mixtures moved towards the middle until every weight is at least `least`."""
    return least + (1 - weights.shape[-1] * least) * weights


def fitted_mixtures(K: int) -> np.ndarray:
    """A simplex lattice in thirds (in halves from five domains on), moved inwards, and the uniform mixture: (n, K)."""
    points = lattice(K, 3 if K <= 4 else 2)
    uniform = np.full(K, 1 / K)
    if not np.isclose(points, uniform).all(axis=1).any():
        points = np.concatenate([points, uniform[None]])
    return inwards(points)


def held_out_mixtures(K: int, count: int, seed: int) -> np.ndarray:
    """Mixtures drawn evenly from all those with weights of at least `LEAST`: (count, K)."""
    return inwards(np.random.default_rng([seed, K]).dirichlet(np.ones(K), count))


def best_of(mean: Callable[[np.ndarray], np.ndarray], K: int, least: float = LEAST) -> np.ndarray:
    """The mixture with the least predicted mean loss among those with weights of at least `least`: (K,).

    Args:
        mean: mixtures (n, K) to mean losses (n,).
    """
    from scipy.optimize import minimize

    points = inwards(lattice(K, SEARCH_STEPS[K]), least)
    start = points[int(np.argmin(mean(points)))]
    found = minimize(
        lambda h: float(mean(h[None])[0]),
        start,
        method="SLSQP",
        bounds=[(least, 1.0)] * K,
        constraints={"type": "eq", "fun": lambda h: h.sum() - 1},
        options={"ftol": 1e-10},
    )
    better = found.success and found.fun <= float(mean(start[None])[0])
    h = np.maximum(found.x if better else start, least)
    return h / h.sum()


def quadratic_optimum(h: np.ndarray, mean: np.ndarray) -> np.ndarray | None:
    """Where a quadratic through measured mean losses is least, (K,); None with too few points for one.

    Args:
        h: mixtures (n, K).
        mean: measured mean losses (n,).
    """
    K = h.shape[1]
    rows, columns = np.triu_indices(K)

    def terms(h: np.ndarray) -> np.ndarray:
        return (
            h[:, rows] * h[:, columns]
        )  # weights sum to one: these hold the constant and the linear terms too

    if len(h) < len(rows) + 1:
        return None
    weights = np.linalg.lstsq(terms(h), mean, rcond=None)[0]
    return best_of(lambda h: terms(h) @ weights, K)
