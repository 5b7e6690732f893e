"""The last digits of one optimum, by BFGS on the true objective."""

from __future__ import annotations

import numpy as np

from explorer.fitting.problem import Problem


def polish(problem: Problem, theta: np.ndarray) -> tuple[np.ndarray, float]:
    """theta (p,) moved to the minimum it lies beside, and the objective there, never above that of the start.

    Coefficients at a bound stay there. The rest are turned and scaled so that the curvature is about one in
    every direction (A and alpha nearly trade off, so plain coordinates are badly scaled), and the objective
    is divided by its start value: in its own units a solver's usual tolerance would end the search at once.
    """
    from scipy.optimize import minimize

    start = float(problem.objective(theta[None])[0])
    inner = np.flatnonzero((theta > problem.low) & (theta < problem.high))
    if not len(inner) or not 0 < start < np.inf:
        return theta, start
    residual, jacobian = problem.residual(theta[None])[0], problem.jacobian(theta[None])[0][:, inner]
    weight = np.minimum(problem.delta / np.maximum(np.abs(residual), 1e-300), 1.0)
    curvature = (jacobian * weight[:, None]).T @ jacobian / start
    values, vectors = np.linalg.eigh(curvature)
    turn = vectors / np.sqrt(np.maximum(values, 1e-10 * values[-1]))

    def at(z: np.ndarray) -> np.ndarray:
        moved = theta.copy()
        moved[inner] = np.clip(theta[inner] + turn @ z, problem.low[inner], problem.high[inner])
        return moved[None]

    def value(z: np.ndarray) -> tuple[float, np.ndarray]:
        moved = at(z)
        psi = np.clip(problem.residual(moved)[0], -problem.delta, problem.delta)
        slope = psi @ problem.jacobian(moved)[0][:, inner] @ turn
        return float(problem.objective(moved)[0]) / start, slope / start

    found = minimize(value, np.zeros(len(inner)), jac=True, method="BFGS", options={"gtol": 1e-10})
    better = at(found.x)[0]
    end = float(problem.objective(better[None])[0])
    return (better, end) if end < start else (theta, start)
