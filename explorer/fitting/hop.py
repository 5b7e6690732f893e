"""Jumps out of a shallow local minimum: a robust objective has many beside the best one."""

from __future__ import annotations

import numpy as np

from explorer.fitting.problem import Problem


def jump(
    problem: Problem, theta: np.ndarray, spread: np.ndarray, width: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Starts (K, p) drawn around theta (K, p), each as far away as its width (K,) says, within the limits."""
    moved = theta + width[:, None] * (random.normal(size=theta.shape) @ spread.T)
    return np.clip(moved, problem.low, problem.high)


def spread_at(problem: Problem, theta: np.ndarray) -> np.ndarray:
    """What turns independent normal draws (p,) into a jump from theta (p,) of width 1, (p, p).

    It is the spread that a least-squares fit would give the coefficients for one point of the residuals' size:
    long along directions that the points hardly fix, short along the others. Zero where nothing is fixed.
    """
    residual, jacobian = problem.residual(theta[None])[0], problem.jacobian(theta[None])[0]
    weight = problem.weight / problem.weight.mean()
    values, vectors = np.linalg.eigh((jacobian * weight[:, None]).T @ jacobian)
    if not values[-1] > 0:
        return np.zeros_like(vectors)
    size = np.sqrt(np.average(residual**2, weights=weight))
    return size * vectors / np.sqrt(np.maximum(values, 1e-8 * values[-1]))
