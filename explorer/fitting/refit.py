"""The objective minimised again from nearby: to other measurements, or pulled towards a value of a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explorer.fitting.problem import Problem

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From theta (K, p) and the row numbers (K,) that it belongs to, one number each (K,)."""

# A batch is cut so that one (K, n) array stays in the cache of a core.
_CELLS = 60_000
_STEP = 1e-5


@dataclass(frozen=True)
class Pull:
    """A spring that draws a function of the coefficients to a value: 0.5 stiffness (function - value)^2 a row.

    Args:
        function: called with theta (K, p) and row numbers (K,).
        value: (K,).
        stiffness: (K,).
    """

    function: Function
    value: np.ndarray
    stiffness: np.ndarray


def gradient(function: Function, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """d function / d theta, (K, p), by central differences."""
    count, size = theta.shape
    moves = _STEP * np.eye(size)
    many = np.repeat(rows, size)
    above = function((theta[:, None] + moves).reshape(-1, size), many)
    below = function((theta[:, None] - moves).reshape(-1, size), many)
    return ((above - below) / (2 * _STEP)).reshape(count, size)


def refit(
    problem: Problem,
    theta: np.ndarray,
    measured: np.ndarray | None = None,
    pull: Pull | None = None,
    weight: np.ndarray | None = None,
    steps: int = 100,
) -> tuple[np.ndarray, np.ndarray]:
    """Local minima reached from theta by damped Gauss-Newton, many at once.

    Args:
        problem: the objective.
        theta: starts, (K, p).
        measured: ln L of the points for each row, (K, n); those of the problem if None.
        pull: a spring on a function of the coefficients.
        weight: how often each point counts, (K, n), on top of the problem's own weight; once if None.
        steps: iterations at most.

    Returns:
        theta (K, p), and the sum of weighted penalties there (K,), without the spring's part.
    """
    best, value = np.array(theta, float), np.empty(len(theta))
    size = max(1, _CELLS // len(problem.log_loss))
    for first in range(0, len(theta), size):
        rows = np.arange(first, min(first + size, len(theta)))
        best[rows], value[rows] = _Refit(problem, measured, pull, weight).run(best[rows], rows, steps)
    return best, value


class _Refit:
    def __init__(
        self, problem: Problem, measured: np.ndarray | None, pull: Pull | None, weight: np.ndarray | None
    ) -> None:
        self.problem, self.measured, self.pull, self.weight = problem, measured, pull, weight

    def run(self, theta: np.ndarray, rows: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
        best = theta.copy()
        value, plain = self.score(best, rows)
        damping = np.ones(len(rows))
        going = np.flatnonzero(np.isfinite(value))
        for _ in range(steps):
            if not len(going):
                break
            step = self.step(best[going], rows[going], damping[going])
            trial = np.clip(best[going] + step, self.problem.low, self.problem.high)
            new, new_plain = self.score(trial, rows[going])
            old, scale = value[going], np.minimum(value[going], plain[going])
            better = new < old
            moved = going[better]
            best[moved], value[moved], plain[moved] = trial[better], new[better], new_plain[better]
            damping[going] = np.where(better, np.maximum(damping[going] * 0.2, 1e-8), damping[going] * 5.0)
            going = going[~np.where(better, old - new <= 1e-10 * scale, damping[going] > 1e5)]
        return best, plain

    def counts(self, rows: np.ndarray) -> np.ndarray:
        weight = self.problem.weight
        return weight if self.weight is None else weight * self.weight[rows]

    def losses(self, rows: np.ndarray) -> np.ndarray:
        return self.problem.loss if self.measured is None else np.exp(self.measured[rows])

    def residual(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        residual = self.problem.residual(theta)
        return residual if self.measured is None else residual + self.problem.log_loss - self.measured[rows]

    def score(self, theta: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The objective with and without the spring; infinity where it has no value."""
        with np.errstate(all="ignore"):
            each = self.problem.penalty.value(self.residual(theta, rows), self.losses(rows))
            plain = (each * self.counts(rows)).sum(axis=-1)
            total = plain
            if self.pull is not None:
                off = self.pull.function(theta, rows) - self.pull.value[rows]
                total = plain + 0.5 * self.pull.stiffness[rows] * off**2
        return np.where(np.isfinite(total), total, np.inf), plain

    def step(self, theta: np.ndarray, rows: np.ndarray, damping: np.ndarray) -> np.ndarray:
        problem, penalty, losses = self.problem, self.problem.penalty, self.losses(rows)
        residual, jacobian, counts = self.residual(theta, rows), problem.jacobian(theta), self.counts(rows)
        slope = np.einsum("knp,kn->kp", jacobian, counts * penalty.slope(residual, losses))
        bound = damping[:, None] * penalty.bound(residual, losses)
        curvature = counts * np.maximum(penalty.curvature(residual, losses) + bound, 0.0)
        hessian = np.swapaxes(jacobian, 1, 2) @ (jacobian * curvature[..., None])
        if self.pull is not None:
            along = gradient(self.pull.function, theta, rows)
            force = self.pull.stiffness[rows] * (self.pull.function(theta, rows) - self.pull.value[rows])
            slope = slope + force[:, None] * along
            stiff = self.pull.stiffness[rows][:, None, None]
            hessian = hessian + stiff * along[:, :, None] * along[:, None, :]
        held = ((theta <= problem.low) & (slope > 0)) | ((theta >= problem.high) & (slope < 0))
        slope = np.where(held, 0.0, slope)
        hessian = np.where(held[:, :, None] | held[:, None, :], 0.0, hessian)
        scale = np.sqrt(np.einsum("kpp->kp", hessian))
        scale = np.where(scale > 0, scale, 1.0)
        hessian = hessian / (scale[:, :, None] * scale[:, None, :])
        ridge = 1e-12 + 1e-9 * np.minimum(damping, 1e6)
        hessian = hessian + (ridge[:, None] + held)[:, :, None] * np.eye(theta.shape[1])
        sound = np.isfinite(hessian).all(axis=(1, 2)) & np.isfinite(slope).all(axis=1)
        hessian[~sound], slope[~sound] = np.eye(theta.shape[1]), 0.0
        return -np.linalg.solve(hessian, (slope / scale)[..., None])[..., 0] / scale
