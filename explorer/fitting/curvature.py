"""The fit around its optimum: how steeply the objective rises, and how far noise moves its lowest place.

A sum of penalties rho(r_i) with psi = rho' has its minimum moved by H^-1 sum_i psi_i x_i, where x_i is a row of the
Jacobian and H = sum_i psi'_i x_i x_i'. A Huber loss with a threshold far below the noise is nearly the absolute
value: psi' is then not zero only for the few points that the curve passes through. So the mean of psi' is taken from
the density of the residuals at zero, in the bandwidth of Hall and Sheather (1988), after leaving out as many of the
smallest residuals as there are coefficients (the curve passes through about so many by itself); and each point's
share of it from a wider Epanechnikov kernel, so that noisier points count less (Powell 1991).

Three kinds of noise:
* a size of its own at every point, which is what is assumed unless told otherwise, and the same for points that share
  theirs in clusters: the sandwich H^-1 S H^-1 with S from each cluster's sum of psi_i x_i, its leverage undone, and
  with the degrees of freedom that such an estimate has (Bell and McCaffrey 2002, called CR2): about as many as there
  are clusters that really differ in the direction asked, often few;
* equal everywhere: var(psi) is the sum of psi^2 over n - p, with n - p degrees of freedom.

Twice the rise of the objective, divided by the variance over g'H^-1 g (for equal noise: var(psi) / mean of psi'), is
about the square of a Student t with these degrees of freedom (Schrader and Hettmansperger 1980).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.penalty import Huber, Penalty, Quantile
from explorer.fitting.problem import Problem

# A part of a cluster that the fit takes up entirely tells nothing on its noise.
_TAKEN_UP = 1e-8
# Directions with less than this share of the largest singular value are treated as if they had this share.
_FLAT = 1e-12

UNIDENTIFIED = 1e-6
"""Ratio of the least to the greatest singular value of the scaled Jacobian below which coefficients trade off so
completely that a change of any of them tenfold or so would not show in the fit."""


class Curvature:
    """The quadratic picture of an objective at its optimum.

    Args:
        problem: the objective.
        theta: its optimum (p,).
        equal: whether the noise is taken to be equal at all points.
        freed: (p,), coefficients that count as fitted even at a bound; none if left out.

    Attributes:
        inner: (p,), whether a coefficient lies between its bounds or is freed; the others are taken as held.
        residual: (n,).
        share: (n,), root of what a point counts: of its weight, and of psi' where the penalty has no kink.
        jacobian: (n, q) of the inner coefficients, times the share.
        psi: (n,), such that sum_i psi_i jacobian_i is the gradient.
        freedom: points that count, less q.
        slope: the mean of what is left of psi'.
        weight: (n,), of each point, smoothed: H = sum_i weight_i jacobian_i jacobian_i'.

    Raises:
        BadInput: there are no more points than coefficients, so nothing tells the noise.
    """

    def __init__(
        self, problem: Problem, theta: np.ndarray, equal: bool = False, freed: np.ndarray | None = None
    ) -> None:
        self.problem, self.theta, self.equal = problem, theta, equal
        self.inner = (theta > problem.low) & (theta < problem.high)
        if freed is not None:
            self.inner = self.inner | freed
        self.residual = problem.residual(theta[None])[0]
        slope = problem.penalty.slope(self.residual, problem.loss)
        self.share = np.sqrt(problem.weight)
        kink = _kink(problem.penalty)
        if kink is None:
            curvature = problem.penalty.curvature(self.residual, problem.loss)
            self.share = self.share * np.sqrt(np.maximum(curvature, 1e-6 * np.max(np.abs(curvature))))
        counted = self.share > 0
        self.jacobian = problem.jacobian(theta[None])[0][:, self.inner] * self.share[:, None]
        self.psi = np.where(counted, problem.weight * slope / np.where(counted, self.share, 1.0), 0.0)
        points, count = int(counted.sum()), self.jacobian.shape[1]
        self.freedom = points - count
        if points <= len(theta):
            raise BadInput(
                f"There are {points} points for {len(theta)} fitted coefficients: nothing is left to tell the noise, "
                "so give more points, or hold some coefficients with fixed=."
            )
        self.slope, self.weight = 1.0, np.ones(len(counted))
        if kink is not None:
            self.slope, width = _mean_slope(self.residual[counted], *kink, count)
            kernel = np.maximum(1 - (self.residual / (2 * width)) ** 2, 0.0)
            self.weight = np.full(len(counted), self.slope)
            if not equal:
                self.weight = kernel / np.mean(kernel[counted]) * self.slope

    @cached_property
    def length(self) -> np.ndarray:
        """Norms of the Jacobian's columns, (q,)."""
        length = np.sqrt(np.sum(self.jacobian**2, axis=0))
        return np.where(length > 0, length, 1.0)

    @cached_property
    def root(self) -> np.ndarray:
        """(q, q) with root' root = (X'X)^-1."""
        if not self.inner.any():
            return np.zeros((0, 0))
        strengths, directions = self.directions
        least = max(float(strengths[0]) * _FLAT, 1e-150)
        return directions / np.maximum(strengths, least)[:, None] / self.length

    @cached_property
    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        """(strengths (q,), the strongest first; directions (q, q), one a row), of coefficients scaled by `length`."""
        _, strengths, directions = np.linalg.svd(self.jacobian / self.length, full_matrices=False)
        return strengths, directions

    @property
    def unfixed(self) -> np.ndarray:
        """Directions (k, q), scaled as `directions`, along which the fit does not change at all."""
        strengths, directions = self.directions
        return directions[strengths < UNIDENTIFIED * strengths[0]]

    @cached_property
    def basis(self) -> np.ndarray:
        """X root', (n, q): its columns are orthonormal."""
        return self.jacobian @ self.root.T

    @cached_property
    def metric(self) -> np.ndarray:
        """(q, q) with H^-1 = root' metric root."""
        return np.linalg.inv(
            self.basis.T @ (self.basis * self.weight[:, None]) + 1e-300 * np.eye(len(self.root))
        )

    def noise(self) -> float:
        """var(psi) / slope of equal noise: the unit of twice the objective."""
        return min(float(np.sum(self.psi**2)) / self.freedom, float(np.max(self.psi**2))) / self.slope

    def give(self, gradient: np.ndarray) -> np.ndarray:
        """gradient' H^-1 gradient, from (m, p) to (m,): how far a unit of force moves that function."""
        force = gradient[:, self.inner] @ self.root.T
        return np.einsum("mq,qr,mr->m", force, self.metric, force)

    def path(self, gradient: np.ndarray) -> np.ndarray:
        """H^-1 gradient, (m, p): how the coefficients move under a force on that function; 0 at a bound."""
        moved = np.zeros_like(gradient)
        moved[:, self.inner] = gradient[:, self.inner] @ self.root.T @ self.metric @ self.root
        return moved

    def covariance(self, clusters: np.ndarray | None = None) -> np.ndarray:
        """Of the inner coefficients, (q, q)."""
        if self.equal and clusters is None:
            return self.root.T @ self.metric @ self.root * self.noise()
        if clusters is None:
            scores = self._alone() * self.psi[:, None]
        else:
            scores = np.stack([self._undone(rows) @ self.psi[rows] for rows in _members(clusters)])
        spread = scores @ self.metric @ self.root
        return spread.T @ spread

    def variance(
        self, gradient: np.ndarray, clusters: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Variance of a function of the coefficients, and its degrees of freedom, (m,) each.

        Args:
            gradient: (m, p).
            clusters: codes 0, 1, ... (n,) of points whose errors go together; every point its own if None.
        """
        if self.equal and clusters is None:
            return self.give(gradient) * self.noise(), np.full(len(gradient), float(self.freedom))
        force = gradient[:, self.inner] @ self.root.T @ self.metric  # (m, q)
        # The estimate is sum_g (a_g' psi_g)^2 = |B' psi|^2 with B'B = diag(|a_g|^2) - U U', u_g = basis_g' a_g.
        if clusters is None:
            a = force @ self._alone().T  # (m, n)
            total = np.sum((a * self.psi) ** 2, axis=1)
            size, share = a**2, a[..., None] * self.basis
        else:
            total = np.zeros(len(force))
            sizes, shares = [], []
            for rows in _members(clusters):
                a = force @ self._undone(rows)
                total += (a @ self.psi[rows]) ** 2
                sizes.append(np.sum(a**2, axis=1))
                shares.append(a @ self.basis[rows])
            size, share = np.stack(sizes, axis=1), np.stack(shares, axis=1)  # (m, G), (m, G, q)
        own = np.sum(share**2, axis=2)
        gram = np.swapaxes(share, 1, 2) @ share
        trace = np.sum(size - own, axis=1)
        square = np.sum(size**2 - 2 * size * own, axis=1) + np.sum(gram**2, axis=(1, 2))
        with np.errstate(all="ignore"):
            freedom = np.where((trace > 0) & (square > 0), trace**2 / square, 1.0)
        return total, np.maximum(freedom, 1.0)

    def left_out(self, clusters: np.ndarray | None = None) -> np.ndarray:
        """Residuals (n,) as they would be about had their cluster (or point) not been fitted.

        r_g + ((I - P_gg)^-1 - I) psi_g / slope: for least squares the residual over one minus the leverage.
        """
        if clusters is None:
            leverage = np.minimum(np.sum(self.basis**2, axis=1), 1 - _TAKEN_UP)
            moved = leverage / (1 - leverage) * self.psi
        else:
            moved = np.zeros_like(self.psi)
            for rows in _members(clusters):
                left, taken, _ = np.linalg.svd(self.basis[rows], full_matrices=False)
                moved[rows] = left @ ((_grown(taken, -1.0, 1.0) - 1) * (left.T @ self.psi[rows]))
        counted = self.share > 0
        return self.residual + np.where(counted, moved / np.where(counted, self.share, 1.0), 0.0) / self.slope

    def _alone(self) -> np.ndarray:
        """basis_i (1 - leverage_i)^-1/2 of every point, (n, q)."""
        return self.basis * _grown(np.sqrt(np.sum(self.basis**2, axis=1)), -0.5, 0.0)[:, None]

    def _undone(self, rows: np.ndarray) -> np.ndarray:
        """basis_g' (I - P_gg)^-1/2 of one cluster, (q, n_g)."""
        left, taken, right = np.linalg.svd(self.basis[rows], full_matrices=False)
        return (right.T * (taken * _grown(taken, -0.5, 0.0))) @ left.T


def _members(clusters: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(clusters, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(clusters[order])) + 1)


def _grown(taken: np.ndarray, power: float, otherwise: float) -> np.ndarray:
    """(1 - taken^2)^power; `otherwise` where nothing is left."""
    rest = 1 - taken**2
    return np.where(rest > _TAKEN_UP, np.maximum(rest, _TAKEN_UP) ** power, otherwise)


def _kink(penalty: Penalty) -> tuple[float, float] | None:
    """(half width of the part with curvature, curvature summed over it) of a penalty with a kink; else None."""
    if isinstance(penalty, Huber):
        return penalty.delta, 2 * penalty.delta
    if isinstance(penalty, Quantile):
        return penalty.width, 1.0
    return None


def _mean_slope(residual: np.ndarray, half: float, area: float, count: int) -> tuple[float, float]:
    """(mean of psi', the half width of the window that it is taken from)."""
    size = np.sort(np.abs(residual))[count:]
    # Hall and Sheather's bandwidth for the median at 90 %, in probability on one side.
    bandwidth = min(0.5, 0.62 * 1.645 ** (2 / 3) * len(residual) ** (-1 / 3))
    width = max(size[max(1, round(2 * bandwidth * len(size))) - 1], half)
    density = float(np.mean(size <= width)) / (2 * width)
    return min(area / (2 * half), density * area), float(width)
