"""The objective of a fit and its derivatives, for many sets of coefficients at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explorer.laws import Law


class Problem:
    """sum_i Huber_delta(ln L_predicted,i - ln L_measured,i) over theta, the free coefficients.

    theta holds the logarithm of a log coefficient and any other coefficient itself. The objective is a SUM
    over points, as in Hoffmann et al. 2022, eq. 3: averaged, it would be so small that a solver stops early.

    Args:
        law: the law to fit.
        variables: its variables, (n,) each.
        loss: measured losses (n,).
        delta: where the Huber loss turns from square to linear, in ln L.
        fixed: coefficients that are held.
        limits: (low, high) of every coefficient.
    """

    def __init__(
        self,
        law: Law,
        variables: Mapping[str, np.ndarray],
        loss: np.ndarray,
        delta: float,
        fixed: Mapping[str, float],
        limits: Mapping[str, tuple[float, float]],
    ) -> None:
        self.law, self.variables, self.delta, self.fixed = law, variables, delta, fixed
        self.log_loss = np.log(loss)
        self.free = [c for c in law.coefficients if c.name not in fixed]
        self.columns = [law.names.index(c.name) for c in self.free]
        ends = np.array([limits[c.name] for c in self.free], float)
        self.low, self.high = self._to_theta(ends[:, 0]), self._to_theta(ends[:, 1])

    def _to_theta(self, values: np.ndarray) -> np.ndarray:
        logs = np.array([c.log for c in self.free])
        return np.where(logs, np.log(np.where(logs, values, 1.0)), values)

    def theta(self, coefficients: Mapping[str, np.ndarray]) -> np.ndarray:
        """(K, p) from arrays (K,) of coefficients, moved within the limits."""
        values = np.stack([np.asarray(coefficients[c.name], float) for c in self.free], axis=-1)
        return np.clip(self._to_theta(values), self.low, self.high)

    def coefficients(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Every coefficient, those held too, from theta (..., p): arrays of shape (...)."""
        free = {
            c.name: np.exp(x) if c.log else x
            for c, x in zip(self.free, np.moveaxis(theta, -1, 0), strict=True)
        }
        return {
            name: free[name] if name in free else np.full(theta.shape[:-1], self.fixed[name])
            for name in self.law.names
        }

    def residual(self, theta: np.ndarray) -> np.ndarray:
        """ln L_predicted - ln L_measured, (K, n), from theta (K, p)."""
        with np.errstate(all="ignore"):  # a trial step may go anywhere; the objective turns it down
            return np.log(self.law.function(**self._arguments(theta))) - self.log_loss

    def jacobian(self, theta: np.ndarray) -> np.ndarray:
        """d residual / d theta, (K, n, p), from theta (K, p)."""
        if self.law.log_jacobian is not None:
            with np.errstate(all="ignore"):
                return self.law.log_jacobian(**self._arguments(theta))[..., self.columns]
        step = 1e-6 * np.maximum(np.abs(theta), 1.0)
        parts = []
        for k in range(theta.shape[1]):
            move = np.zeros_like(theta)
            move[:, k] = step[:, k]
            parts.append((self.residual(theta + move) - self.residual(theta - move)) / (2 * step[:, k, None]))
        return np.stack(parts, axis=-1)

    def huber(self, residual: np.ndarray) -> np.ndarray:
        """The Huber loss of each residual."""
        size = np.abs(residual)
        return np.where(size <= self.delta, 0.5 * size**2, self.delta * (size - 0.5 * self.delta))

    def objective(self, theta: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
        """The objective (K,) from theta (K, p); infinity where the law gives no finite loss.

        Args:
            weight: how often each point counts, broadcasting to (K, n).
        """
        with np.errstate(all="ignore"):
            value = (self.huber(self.residual(theta)) * weight).sum(axis=-1)
        return np.where(np.isfinite(value), value, np.inf)

    def _arguments(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        coefficients = {name: value[:, None] for name, value in self.coefficients(theta).items()}
        return {**self.variables, **coefficients}
