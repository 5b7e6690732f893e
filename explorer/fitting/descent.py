"""Damped Gauss-Newton on the objective, for many starts or resamples at once; Newton for the last digits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorer.fitting.problem import Problem

# A batch is cut so that one (K, n) array stays in the cache of a core; larger ones are slower.
CELLS = 60_000
# Relative difference up to which two objectives are taken for one minimum.
SAME = 1e-6
# Relative gain promised by the next step below which a descent has settled; the step is still made.
_AT_REST = 1e-9
# Damping below which steps are short enough to be straight.
_STRAIGHT = 0.01
# A penalty a point below which the law goes through the points: what differs there is rounding.
_NOTHING = 1e-22


class Descended(NamedTuple):
    """Where a descent ended.

    theta: (K, p). value: the objective there (K,), above that of the start by no more than rounding.
    settled: (K,), whether a minimum was reached: the next step would gain nothing that counts.
    """

    theta: np.ndarray
    value: np.ndarray
    settled: np.ndarray


def same(problem: Problem, value: np.ndarray, lowest: np.ndarray | float) -> np.ndarray:
    """Which objectives (K,) are as low as the lowest, as far as a search can tell."""
    return value <= lowest * (1 + SAME) + 100 * _NOTHING * problem.weight.sum()


def descend(
    problem: Problem,
    theta: np.ndarray,
    weight: np.ndarray | None = None,
    steps: int = 150,
    exact: bool = False,
    damping: float = 1.0,
    enough: int | None = None,
) -> Descended:
    """Local minima reached from theta.

    A robust penalty has curvature only close to the measurement. Far away its bound, the parabola of
    iteratively reweighted least squares, serves as the damping: much of it gives a safe short step, little of
    it gives Newton's step on the points that fit. A step bends along with the law (the geodesic acceleration
    of Transtrum and Sethna 2012), which halves the steps needed along a curved valley.

    Args:
        problem: the objective.
        theta: starts, (K, p).
        weight: how often each point counts, (K, n); once if None.
        steps: iterations at most.
        exact: whether the law's own second derivatives take part: Newton's method, for the last digits.
        damping: how much of the bound the first step takes.
        enough: once so many have settled at the lowest objective of their batch, the others are given up.
    """
    points = len(problem.loss)
    size = max(1, CELLS // points)
    parts = []
    for first in range(0, len(theta), size):
        part = slice(first, first + size)
        counts = np.ones((1, points)) if weight is None else weight[part]
        parts.append(_descend(problem, theta[part], counts, steps, exact, damping, enough))
    return parts[0] if len(parts) == 1 else Descended(*map(np.concatenate, zip(*parts, strict=True)))


@np.errstate(all="ignore")  # a step may lead anywhere; the objective turns it down
def _descend(
    problem: Problem,
    theta: np.ndarray,
    weight: np.ndarray,
    steps: int,
    exact: bool,
    first_damping: float,
    enough: int | None,
) -> Descended:
    best, residual = theta.copy(), problem.residual(theta)
    value = problem.cost(residual, weight)
    settled = np.zeros(len(theta), bool)
    damping = np.full(len(theta), float(first_damping))
    counts = np.broadcast_to(weight * problem.weight, residual.shape)
    nothing = _NOTHING * counts.sum(axis=1)
    going = np.flatnonzero(np.isfinite(value))
    for _ in range(steps):
        if not len(going):
            break
        now, old, damped = best[going], value[going], damping[going]
        step, gain = _step(problem, now, residual[going], counts[going], damped, exact)
        trial = np.minimum(np.maximum(now + step, problem.low), problem.high)
        trial_residual = problem.residual(trial)
        new = problem.cost(trial_residual, weight if len(weight) == 1 else weight[going])
        # Newton's last steps change the objective by less than its rounding.
        better = new <= old * (1 + 1e-14) if exact else new < old
        moved = going[better]
        best[moved], value[moved], residual[moved] = trial[better], new[better], trial_residual[better]
        at_rest = gain <= _AT_REST * old + nothing[going]
        if not exact:
            at_rest |= better & (old - new <= 0.1 * _AT_REST * old)
        at_rest &= damped <= 0.1
        done = gain <= 1e-18 * old if exact else at_rest
        settled[going[at_rest]] = True
        as_foretold = np.abs(old - new - gain) < 0.1 * gain
        change = np.where(better, np.where(as_foretold, 0.2, 0.5), 4.0)
        damping[going] = np.maximum(damped * change, 1e-8)
        going = going[~(done | (damped > 1e6))]
        if enough and done.any() and (settled & same(problem, value, value.min())).sum() >= enough:
            break
    return Descended(best, value, settled)


def _step(
    problem: Problem,
    theta: np.ndarray,
    residual: np.ndarray,
    counts: np.ndarray,
    damping: np.ndarray,
    exact: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The next step (K, p), and how much lower the objective would be in its quadratic model (K,)."""
    penalty, loss = problem.penalty, problem.loss
    pull = counts * penalty.slope(residual, loss)
    stiffness = penalty.curvature(residual, loss) + damping[:, None] * penalty.bound(residual, loss)
    stiffness = counts * np.maximum(stiffness, 0.0)
    jacobian = problem.jacobian(theta)
    gradient = (pull[:, None, :] @ jacobian)[:, 0]
    hessian = np.swapaxes(jacobian, 1, 2) @ (jacobian * stiffness[..., None])
    if exact:
        hessian = hessian + problem.bend(theta, pull)
    # A coefficient that its bound holds back takes no part in the step.
    held = ((theta <= problem.low) & (gradient > 0)) | ((theta >= problem.high) & (gradient < 0))
    gradient = np.where(held, 0.0, gradient)
    hessian, scale = _scaled(hessian, held, damping, exact)
    unsound = ~(np.isfinite(hessian).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1))
    if unsound.any():
        hessian[unsound], gradient[unsound] = np.eye(theta.shape[1]), 0.0
    step = -np.linalg.solve(hessian, (gradient / scale)[..., None])[..., 0] / scale
    gain = -0.5 * (gradient * step).sum(axis=1)
    if exact or not (damping > _STRAIGHT).any():
        return step, gain
    # How the residuals bend along the step, and the further step that would undo it.
    ahead = problem.residual(theta + 0.1 * step) - residual
    bent = 200.0 * (ahead - 0.1 * (jacobian @ step[..., None])[..., 0])
    right = ((stiffness * bent)[:, None, :] @ jacobian)[:, 0] / scale
    right = np.where(held | ~np.isfinite(right), 0.0, right)
    turn = -0.5 * np.linalg.solve(hessian, right[..., None])[..., 0] / scale
    ratio = np.linalg.norm(turn * scale, axis=1) / np.linalg.norm(step * scale, axis=1)
    turn = turn * np.minimum(1.0, 0.75 / ratio)[:, None]
    return step + np.where(np.isfinite(turn), turn, 0.0), gain


def _scaled(
    hessian: np.ndarray, held: np.ndarray, damping: np.ndarray, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """A Hessian (K, p, p) made safe to solve with, in units (K, p) in which its diagonal is one."""
    identity = np.eye(hessian.shape[1])
    if held.any():
        hessian = np.where(held[:, :, None] | held[:, None, :], 0.0, hessian)
    scale = np.sqrt(np.abs(np.einsum("kpp->kp", hessian)))
    scale = np.where(scale > 0, scale, 1.0)
    hessian = hessian / (scale[:, :, None] * scale[:, None, :])
    ridge = 1e-12 + 1e-9 * np.minimum(damping, 1e6)
    if exact:  # it may fall in some direction
        sound = np.isfinite(hessian).all(axis=(1, 2))
        least = np.linalg.eigvalsh(np.where(sound[:, None, None], hessian, 0.0))[:, 0]
        ridge = ridge + np.maximum(1e-9 - least, 0.0)
    hessian += (ridge[:, None] + held)[:, :, None] * identity
    return hessian, scale
