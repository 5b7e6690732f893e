"""Jumps out of a shallow local minimum: the Huber objective has many beside the best one."""

from __future__ import annotations

import numpy as np

from explorer.fitting.descent import descend
from explorer.fitting.problem import Problem


def hop(
    problem: Problem, theta: np.ndarray, random: np.random.Generator, width: float, count: int = 16
) -> tuple[np.ndarray, np.ndarray]:
    """Minima (count, p) reached from around theta (p,), and the objective there (count,).

    The jumps are drawn from the spread that a least-squares fit would give the coefficients for one point of
    the residuals' size, times `width`: long along directions the points hardly fix, short along the others.
    """
    residual, jacobian = problem.residual(theta[None])[0], problem.jacobian(theta[None])[0]
    values, vectors = np.linalg.eigh(jacobian.T @ jacobian)
    if not values[-1] > 0:
        return theta[None], problem.objective(theta[None])
    spread = vectors / np.sqrt(np.maximum(values, 1e-8 * values[-1]))
    size = width * np.sqrt(np.mean(residual**2))
    jumps = size * random.normal(size=(count, len(theta))) @ spread.T
    return descend(problem, np.clip(theta + jumps, problem.low, problem.high))
