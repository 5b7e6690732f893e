"""Damped Gauss-Newton on the Huber objective, for many starts or resamples at once."""

from __future__ import annotations

import numpy as np

from explorer.fitting.problem import Problem

# A batch is cut so that one (K, n) array stays in the cache of a core; larger ones are slower.
_CELLS = 60_000


def descend(
    problem: Problem, theta: np.ndarray, weight: np.ndarray | None = None, steps: int = 150
) -> tuple[np.ndarray, np.ndarray]:
    """Local minima reached from theta.

    The Huber loss has curvature only within delta of the measurement. Far away the weights delta / |r| of
    iteratively reweighted least squares bound it from above, so they serve as the damping: much of it gives
    a safe short step, little of it gives Newton's step on the points that fit.

    Args:
        problem: the objective.
        theta: starts, (K, p).
        weight: how often each point counts, (K, n); once if None.
        steps: iterations at most.

    Returns:
        theta (K, p) and the objective there (K,), never above that of the start.
    """
    theta = theta.copy()
    points = len(problem.log_loss)
    value = np.empty(len(theta))
    size = max(1, _CELLS // points)
    for first in range(0, len(theta), size):
        part = slice(first, first + size)
        counts = np.ones((1, points)) if weight is None else weight[part]
        theta[part], value[part] = _descend(problem, theta[part], counts, steps)
    return theta, value


def _descend(
    problem: Problem, theta: np.ndarray, weight: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    best, value = theta.copy(), problem.objective(theta, weight)
    weight = np.broadcast_to(weight, (len(theta), weight.shape[1]))
    damping = np.ones(len(theta))
    going = np.flatnonzero(np.isfinite(value))
    for _ in range(steps):
        if not len(going):
            break
        now = best[going]
        counts = weight[going]
        step = _step(problem, now, counts, damping[going])
        trial = np.clip(now + step, problem.low, problem.high)
        new = problem.objective(trial, counts)
        old = value[going]
        better = new < old
        best[going[better]], value[going[better]] = trial[better], new[better]
        damping[going] = np.where(better, np.maximum(damping[going] * 0.2, 1e-8), damping[going] * 5.0)
        settled = np.where(better, old - new <= 1e-12 * old, damping[going] > 1e5)
        going = going[~settled]
    return best, value


def _step(problem: Problem, theta: np.ndarray, weight: np.ndarray, damping: np.ndarray) -> np.ndarray:
    residual, jacobian = problem.residual(theta), problem.jacobian(theta)
    size = np.maximum(np.abs(residual), 1e-300)
    shrink = np.minimum(problem.delta / size, 1.0)
    gradient = np.einsum("knp,kn->kp", jacobian, weight * shrink * residual)
    curvature = weight * ((size <= problem.delta) + damping[:, None] * shrink)
    hessian = np.swapaxes(jacobian, 1, 2) @ (jacobian * curvature[..., None])
    # A coefficient that its bound holds back takes no part in the step.
    held = ((theta <= problem.low) & (gradient > 0)) | ((theta >= problem.high) & (gradient < 0))
    gradient = np.where(held, 0.0, gradient)
    hessian = np.where(held[:, :, None] | held[:, None, :], 0.0, hessian)
    scale = np.sqrt(np.einsum("kpp->kp", hessian))
    scale = np.where(scale > 0, scale, 1.0)
    hessian = hessian / (scale[:, :, None] * scale[:, None, :])
    ridge = 1e-12 + 1e-9 * np.minimum(damping, 1e6)
    hessian = (
        hessian + ridge[:, None, None] * np.eye(theta.shape[1]) + held[:, :, None] * np.eye(theta.shape[1])
    )
    sound = np.isfinite(hessian).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1)
    hessian[~sound], gradient[~sound] = np.eye(theta.shape[1]), 0.0
    return -np.linalg.solve(hessian, (gradient / scale)[..., None])[..., 0] / scale
