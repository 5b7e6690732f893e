"""What a wide random layer needs to know of its activation: Gaussian averages as functions of variance and correlation.

For pre-activations u1, u2 of variance q and correlation c = 1 - m every activation gives, as float64 arrays,

    second_moment(q)     E[phi(u)^2]
    slope_moment(q)      E[phi'(u)^2]
    curvature_moment(q)  E[phi''(u)^2], infinite with a kink
    fall(q, m)           E[phi(u)^2] - E[phi(u1) phi(u2)]: what the product loses on the way from c = 1
    slope(q, m)          d/dc E[phi(u1) phi(u2)] = q E[phi'(u1) phi'(u2)] (Price's theorem)

q and m broadcast against each other. The averages are written in m, not in c, because all the physics is near c = 1.
Only tanh has no closed form: its averages are sums over a trapezoid rule, which for these integrands is exact to
rounding, while Gauss-Hermite rules lose digits once q is large.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

Numbers = Any
"""A float or a float64 array; they broadcast against each other."""

COARSE, FINE = (0.06, 9.0), (0.03, 12.0)
"""Spacing and last node of the rules, in standard deviations: for moments, and for Hermite coefficients."""
TERMS = 1200
"""Odd Hermite terms that are tabulated: enough up to q = 20."""


class Activation:
    """Base of all activations; `kinked` tells the universality class, `slope_at_zero` is phi'(0)."""

    name: str
    kinked = False
    slope_at_zero = 1.0

    def second_moment(self, q: Numbers) -> Numbers:
        raise NotImplementedError

    def slope_moment(self, q: Numbers) -> Numbers:
        raise NotImplementedError

    def curvature_moment(self, q: Numbers) -> Numbers:
        raise NotImplementedError

    def fall(self, q: Numbers, m: Numbers) -> Numbers:
        raise NotImplementedError

    def slope(self, q: Numbers, m: Numbers) -> Numbers:
        raise NotImplementedError


class Linear(Activation):
    """phi(u) = u: what every activation with phi(0) = 0 becomes for vanishing variance."""

    name = "linear"

    def second_moment(self, q: Numbers) -> Numbers:
        return np.asarray(q, float)

    def slope_moment(self, q: Numbers) -> Numbers:
        return np.ones_like(q, dtype=float)

    def curvature_moment(self, q: Numbers) -> Numbers:
        return np.zeros_like(q, dtype=float)

    def fall(self, q: Numbers, m: Numbers) -> Numbers:
        return np.asarray(q, float) * m

    def slope(self, q: Numbers, m: Numbers) -> Numbers:
        return q * np.ones_like(m, dtype=float)


class Relu(Activation):
    """phi(u) = max(u, 0): the arc-cosine kernel (Cho and Saul 2009)."""

    name = "ReLU"
    kinked = True
    slope_at_zero = 0.5  # the mean over both sides, as a wide layer sees it

    def second_moment(self, q: Numbers) -> Numbers:
        return np.asarray(q, float) / 2

    def slope_moment(self, q: Numbers) -> Numbers:
        return np.full_like(q, 0.5, dtype=float)

    def curvature_moment(self, q: Numbers) -> Numbers:
        return np.full_like(q, np.inf, dtype=float)

    def fall(self, q: Numbers, m: Numbers) -> Numbers:
        angle = _angle(m)
        # sin x - x cos x loses its digits for small x; its series does not.
        series = angle**3 / 3 * (1 - angle**2 / 10 * (1 - angle**2 / 28))
        rest = np.where(angle < 0.02, series, np.sin(angle) - angle * np.cos(angle))
        return q / 2 * (m - rest / np.pi)

    def slope(self, q: Numbers, m: Numbers) -> Numbers:
        return q / 2 * (1 - _angle(m) / np.pi)


class Erf(Activation):
    """phi(u) = erf(u): the arc-sine kernel (Williams 1997)."""

    name = "erf"
    slope_at_zero = 2 / math.sqrt(math.pi)

    def second_moment(self, q: Numbers) -> Numbers:
        return 2 / np.pi * np.arcsin(_share(q))

    def slope_moment(self, q: Numbers) -> Numbers:
        return 4 / np.pi / np.sqrt(1 + 4 * np.asarray(q, float))

    def curvature_moment(self, q: Numbers) -> Numbers:
        a = _share(q)
        return 2 / np.pi * a**3 / (1 - a**2) ** 1.5 / np.asarray(q, float) ** 2

    def fall(self, q: Numbers, m: Numbers) -> Numbers:
        a = _share(q)
        b = a * (1 - m)
        # asin a - asin b without the cancellation of a - b.
        sine = a * m * (a + b) / (a * np.sqrt(1 - b**2) + b * np.sqrt(1 - a**2))
        return 2 / np.pi * np.arcsin(sine)

    def slope(self, q: Numbers, m: Numbers) -> Numbers:
        a = _share(q)
        return 2 / np.pi * a / np.sqrt(1 - (a * (1 - m)) ** 2)


class Gelu(Activation):
    """phi(u) = u Phi(u): its kernel in closed form, from two integrations by parts."""

    name = "GELU"
    slope_at_zero = 0.5

    def second_moment(self, q: Numbers) -> Numbers:
        return self._product(np.asarray(q, float), 1.0)

    def slope_moment(self, q: Numbers) -> Numbers:
        return self.slope(q, np.zeros_like(q, dtype=float)) / q

    def curvature_moment(self, q: Numbers) -> Numbers:
        # E of ((2 - u^2) times the normal density)^2: a Gaussian of variance s = q / (1 + 2q).
        q = np.asarray(q, float)
        s = q / (1 + 2 * q)
        return (4 - 4 * s + 3 * s**2) / (2 * np.pi * np.sqrt(1 + 2 * q))

    def fall(self, q: Numbers, m: Numbers) -> Numbers:
        q = np.asarray(q, float)
        return self._product(q, 1.0) - self._product(q, 1 - m)

    def slope(self, q: Numbers, m: Numbers) -> Numbers:
        """q E[phi' phi'] with phi' = Phi + u times the normal density; v = qc is the covariance."""
        q = np.asarray(q, float)
        v = q * (1 - m)
        D = (1 + q) ** 2 - v**2
        both = 0.25 + np.arcsin(v / (1 + q)) / (2 * np.pi)
        mixed = 2 * v / ((1 + q) * 2 * np.pi * np.sqrt(D))
        # Under the product of two normal densities the covariance of u1 and u2 is v / D.
        dense = v / D / (2 * np.pi * np.sqrt(D))
        return q * (both + mixed + dense)

    @staticmethod
    def _product(q: np.ndarray, c: np.ndarray | float) -> np.ndarray:
        v = q * c
        root = np.sqrt((1 + q) ** 2 - v**2)
        dense = (q * (1 + q) - v**2) / ((1 + q) * 2 * np.pi * root)
        both = 0.25 + np.arcsin(v / (1 + q)) / (2 * np.pi) + v / ((1 + q) * 2 * np.pi * root)
        return q * dense + v * both


class Tanh(Activation):
    """phi(u) = tanh(u), by a trapezoid rule in u and a series of Hermite polynomials in c.

    With a_n the coefficients of tanh(sqrt(q) z) in normalised Hermite polynomials, E[phi(u1) phi(u2)] is the sum of
    a_n^2 c^n over odd n (Mehler's formula). Its terms are positive, so nothing cancels. The poles of tanh make a_n^2
    fall like exp(-pi sqrt(n / q)), so 60 q + 20 terms leave an error at rounding.
    """

    name = "tanh"

    def second_moment(self, q: Numbers) -> Numbers:
        return self._mean(q, lambda phi: phi**2)

    def slope_moment(self, q: Numbers) -> Numbers:
        return self._mean(q, lambda phi: (1 - phi**2) ** 2)

    def curvature_moment(self, q: Numbers) -> Numbers:
        return self._mean(q, lambda phi: (2 * phi * (1 - phi**2)) ** 2)

    def fall(self, q: Numbers, m: Numbers) -> Numbers:
        squares, orders, log_c = self._series(q, m)
        return (squares * -np.expm1(log_c * orders)).sum(-1)

    def slope(self, q: Numbers, m: Numbers) -> Numbers:
        squares, orders, log_c = self._series(q, m)
        return (squares * orders * np.exp(log_c * (orders - 1))).sum(-1)

    @staticmethod
    def _mean(q: np.ndarray, function) -> np.ndarray:  # type: ignore[no-untyped-def]
        z, weight = _half_line(*COARSE)
        return function(np.tanh(np.sqrt(np.asarray(q, float))[..., None] * z)) @ weight

    @staticmethod
    def _series(q: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q = np.asarray(q, float)
        squares = _hermite_squares(q.tobytes(), q.shape)
        orders = 2.0 * np.arange(squares.shape[-1]) + 1
        with np.errstate(divide="ignore"):
            log_c = np.log1p(-np.minimum(m, 1.0))
        return squares, orders, np.maximum(log_c, -745.0)[..., None]


def _share(q: np.ndarray) -> np.ndarray:
    """2q / (1 + 2q)."""
    return 2 * np.asarray(q, float) / (1 + 2 * np.asarray(q, float))


def _angle(m: np.ndarray) -> np.ndarray:
    """arccos(1 - m), with all digits for small m."""
    return 2 * np.arcsin(np.sqrt(np.clip(np.asarray(m, float) / 2, 0, 1)))


@functools.cache
def _half_line(step: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes z >= 0 and weights of the trapezoid rule for even functions of a standard normal, each (n,)."""
    z = np.arange(0, reach + step / 2, step)
    weight = 2 * step * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    weight[0] /= 2
    return z, weight


@functools.cache
def _odd_hermite() -> np.ndarray:
    """Normalised Hermite polynomials of order 1, 3, 5 ... at the nodes, times the weights: (TERMS, 401)."""
    z, weight = _half_line(*FINE)
    before, now = weight, weight * z
    rows = []
    for n in range(1, 2 * TERMS):
        if n % 2:
            rows.append(now)
        before, now = now, (z * now - math.sqrt(n) * before) / math.sqrt(n + 1)
    return np.array(rows)


@functools.lru_cache(maxsize=64)
def _hermite_squares(q_bytes: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """a_n^2 of tanh(sqrt(q) z) for odd n: shape of q, then terms. Kept, since solvers ask for many m at one q."""
    z, _ = _half_line(*FINE)
    rows = []
    for one in np.frombuffer(q_bytes).tolist():  # one by one: most need few terms, the largest q needs many
        terms = min(TERMS, math.ceil(60 * one) + 20) if math.isfinite(one) else 1
        rows.append((_odd_hermite()[:terms] @ np.tanh(math.sqrt(one) * z)) ** 2)
    squares = np.zeros((len(rows), max(map(len, rows))))
    for row, found in zip(squares, rows, strict=True):
        row[: len(found)] = found
    return squares.reshape(*shape, -1)


TANH, ERF, RELU, GELU, LINEAR = Tanh(), Erf(), Relu(), Gelu(), Linear()
