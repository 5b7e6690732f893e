"""Dropout as an external field: the correlation map of a wide random network, its fixed point, and its two classes.

A layer multiplies by weights of variance sw2 / N, adds biases of variance sb2, applies phi and drops each unit with
rate p (rho = 1 - p, kept units divided by rho). For two inputs with their own masks, in the limit of large N
(Sarmiento 2026, and Schoenholz et al. 2017 before it),

    q' = (sw2 / rho) E[phi(u)^2] + sb2                       variance: a unit meets its own mask, hence 1 / rho
    c' = (sw2 E[phi(u1) phi(u2)] + sb2) / q'                 correlation: masks are independent, so there is no 1 / rho
    F(c) is the second at the fixed point q* of the first:   F(1) = 1 - h, h = sw2 (1 / rho - 1) E[phi^2] / q*
    chi = F'(1) = sw2 E[phi'^2],   t = chi - 1,   g = F''(1) = sw2 q* E[phi''^2]
    F(c*) = c*,   m* = 1 - c*,   depth scale xi = -1 / ln F'(c*)

All is written in m = 1 - c and in float64. Rates p and layers l are pure numbers; q and sw2 are variances.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from explorer.errors import BadInput
from explorer.exhibits.dropout_universality.activations import (
    ERF,
    GELU,
    LINEAR,
    RELU,
    TANH,
    Activation,
    Numbers,
)
from explorer.exhibits.dropout_universality.roots import bracketed_roots

K = 2 * math.sqrt(2) / (3 * math.pi)
"""F(1 - m) of a kinked activation holds chi K m^1.5."""
KINKED_RATE = 1.5 * K ** (2 / 3)
"""1 / xi = KINKED_RATE h^(1/3) at t = 0."""

READINGS: dict[str, Activation] = {
    "tanh": TANH,
    "erf": ERF,
    "ReLU-formal": RELU,
    "ReLU-He": RELU,
    "GELU": GELU,
}
"""What may stand on the layers. ReLU has two readings: "ReLU-formal" keeps chi = sw2 / 2 and lets sb2 be whatever makes
q* finite (negative for chi > rho, which no network has); "ReLU-He" is what a network does."""

MOST_STEPS = 60
CLOSE = 1e-9
"""A Newton step this small leaves an error of about its square."""
FLAT = 1e-12
"""A slope this close to 1 is 1 but for rounding."""
_GRID = np.logspace(-9, 3, 361)
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-12, 1e3
_START = 1.0
"""The variance from which an input flows to its fixed point, where there are several."""


@dataclass(frozen=True)
class CorrelationMap:
    """F at the fixed point of the variance; all numbers are scalars or arrays of one shape.

    Args:
        activation: phi. Where the variance vanishes or grows for ever, the activation that phi becomes.
        p: dropout rate.
        sw2: weight variance (that of the limiting network where the variance has no fixed point).
        q: q*; 1 for a ReLU, whose map does not depend on it.
    """

    activation: Activation
    p: Numbers
    sw2: Numbers
    q: Numbers

    @property
    def rho(self) -> Numbers:
        """Share of units that are kept."""
        return 1 - self.p

    @functools.cached_property
    def chi(self) -> Numbers:
        """F'(1)."""
        return self.sw2 * self.activation.slope_moment(self.q)

    @property
    def t(self) -> Numbers:
        """Detuning chi - 1."""
        return self.chi - 1

    @functools.cached_property
    def g(self) -> Numbers:
        """F''(1); infinite with a kink."""
        return self.sw2 * self.q * self.activation.curvature_moment(self.q)

    @functools.cached_property
    def h(self) -> Numbers:
        """1 - F(1), the field: what two masks take away from identical inputs."""
        return self.sw2 * self.p / self.rho * self.activation.second_moment(self.q) / self.q

    def gap(self, m: Numbers) -> Numbers:
        """1 - F(1 - m)."""
        return self.h + self.sw2 / self.q * self.activation.fall(self.q, np.asarray(m, float))

    def slope(self, m: Numbers) -> Numbers:
        """F'(1 - m)."""
        return self.sw2 / self.q * self.activation.slope(self.q, np.asarray(m, float))

    @functools.cached_property
    def fixed_gap(self) -> Numbers:
        """m* = 1 - c*: where 1 - F(1 - m) = m; 0 for p = 0 and chi <= 1.

        NaN where the formal ReLU's map leaves [-1, 1]; all others have F(0) >= 0, so that m* <= 1.

        1 - F(1 - m) - m is concave, so that Newton's steps fall onto the root from its right side without passing it.
        """
        most = 2.0 if self.activation.kinked else 1.0
        start = np.asarray(1.2 * self.normal_gap)
        m = np.where((start > 0) & (start < 1) & (self.slope(np.clip(start, 0, 1)) < 1), start, 1.0)
        for _ in range(MOST_STEPS):
            drop = self.slope(m) - 1
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(drop < 0, (self.gap(m) - m) / drop, 0.0)
            m = np.clip(m - step, 0.0, most)
            if not np.any(np.abs(step) > CLOSE * m):
                break
        still = (np.asarray(self.h) == 0) & (np.asarray(self.t) <= FLAT)
        return np.where(still, 0.0, np.where(self.gap(m) - m < 1e-9, m, np.nan))[()]

    @functools.cached_property
    def depth_scale(self) -> Numbers:
        """xi = -1 / ln F'(c*) in layers; infinite where F' = 1."""
        slope = np.asarray(self.slope(self.fixed_gap))
        with np.errstate(divide="ignore"):
            return np.where(slope < 1 - FLAT, -1 / np.log(np.minimum(slope, 1 - FLAT)), np.inf)[()]

    @functools.cached_property
    def variance_slope(self) -> Numbers:
        """dq'/dq at q*: above 1 the variance leaves q*, which happens to GELU at criticality."""
        step = 1e-4 * self.q
        rise = self.activation.second_moment(self.q + step) - self.activation.second_moment(self.q - step)
        return self.sw2 / self.rho * rise / (2 * step)

    @functools.cached_property
    def normal_gap(self) -> Numbers:
        """m* of the normal form near c = 1."""
        if self.activation.kinked:
            return kinked_gap(self.t, self.h)
        return smooth_gap(self.t, self.g, self.h)

    @functools.cached_property
    def normal_depth_scale(self) -> Numbers:
        """xi of the normal form near c = 1."""
        if self.activation.kinked:
            return kinked_depth_scale(self.t, self.h)
        return smooth_depth_scale(self.t, self.g, self.h)

    def normal_form(self, m: Numbers) -> Numbers:
        """1 - F(1 - m) cut off after its first two terms: h + chi m - (g/2) m^2, or h + chi m - chi K m^1.5."""
        m = np.asarray(m, float)
        bend = self.chi * K * m**1.5 if self.activation.kinked else self.g / 2 * m**2
        return self.h + self.chi * m - bend


def correlation_map(reading: str, p: float, sw2: float, sb2: float) -> CorrelationMap:
    """The map of one network.

    Args:
        reading: one of `READINGS`.
        p: dropout rate in [0, 1).
        sw2, sb2: variances of weights (times width) and biases.

    Raises:
        BadInput: a value that no network can have.
    """
    _check(reading, p, sw2, sb2)
    phi = READINGS[reading]
    if reading == "ReLU-formal":
        return CorrelationMap(phi, p, sw2, 1.0)
    if reading == "ReLU-He":
        # With chi < rho and biases q* is finite; else biases do not count beside a variance that grows or vanishes.
        chi = sw2 / 2 if sb2 > 0 and sw2 / 2 < 1 - p else 1 - p
        return CorrelationMap(phi, p, 2 * chi, 1.0)
    q = fixed_variance(phi, sw2 / (1 - p), sb2)
    if q == 0:
        return CorrelationMap(LINEAR, p, 1 - p, 1.0)
    if math.isinf(q):  # GELU of large numbers is a ReLU
        return CorrelationMap(RELU, p, 2 * (1 - p), 1.0)
    return CorrelationMap(phi, p, sw2, q)


def fixed_variance(phi: Activation, scale: float, sb2: float) -> float:
    """q* = scale E[phi^2] + sb2, the fixed point that an input of variance 1 flows to; 0 or infinity are possible."""
    rises = scale * _grid_moments(phi)[0] + sb2 - _GRID
    first = int(np.searchsorted(_GRID, _START))
    if rises[first] > 0:
        later = np.flatnonzero(rises[first:] <= 0)
        if not len(later):
            return math.inf
        high = first + int(later[0])
    else:
        earlier = np.flatnonzero(rises[:first] > 0)
        if not len(earlier):
            return 0.0
        high = int(earlier[-1]) + 1
    return float(
        bracketed_roots(lambda q: scale * phi.second_moment(q) + sb2 - q, _GRID[[high - 1]], _GRID[[high]])[0]
    )


def critical_weights(reading: str, p: float, sb2: float) -> float:
    """The sw2 for which chi = 1. For "ReLU-He", whose chi is rho at most, the sw2 that keeps the variance: 2 rho.

    Raises:
        BadInput: no sw2 makes chi = 1 at this rate and sb2, or a value that no network can have.
    """
    _check(reading, p, 1.0, sb2)
    if reading == "ReLU-formal":
        return 2.0
    if reading == "ReLU-He":
        return 2 * (1 - p)
    if p == 0 and sb2 == 0:
        return 1 / READINGS[reading].slope_at_zero ** 2
    sw2 = critical_maps(reading, np.array([p]), sb2).sw2[0]
    if math.isnan(sw2):
        raise BadInput(no_critical_weights(reading, p, sb2))
    return float(sw2)


def no_critical_weights(reading: str, p: float, sb2: float) -> str:
    """Why there is nothing to draw where no weight variance gives chi = 1, in one sentence."""
    return (
        f"No weight variance makes chi = 1 for {reading} with p = {p:.4g} and sb2 = {sb2:.4g}; "
        "lower the dropout rate, or set the weight variance yourself."
    )


def critical_maps(reading: str, p: Numbers, sb2: float, t: Numbers = 0.0) -> CorrelationMap:
    """The maps with chi = 1 + t at every rate; sw2 and q are NaN where no weight variance gives that.

    For phi with a finite q*, chi = 1 + t turns the variance map into one equation in q alone,
    q - sb2 = (1 + t) E[phi^2] / (rho E[phi'^2]), of which the smallest root is taken.

    Args:
        p: rates, (n,).
        t: detunings, (n,) or one for all.
    """
    phi = READINGS[reading]
    p, t = np.broadcast_arrays(np.asarray(p, float), np.asarray(t, float))
    if phi.kinked:
        chi = 1 + t if reading == "ReLU-formal" else 1 - p
        return CorrelationMap(phi, p, 2 * chi, np.ones_like(p))
    scale = (1 + t) / (1 - p)
    moment, slope, _ = _grid_moments(phi)
    above = _GRID - sb2 - scale[:, None] * (moment / slope) > 0
    crossing = ~above[:, :-1] & above[:, 1:]
    found, at = crossing.any(1), crossing.argmax(1)
    some = scale[found]

    def excess(q: Numbers) -> Numbers:
        return q - sb2 - some * phi.second_moment(q) / phi.slope_moment(q)

    q = np.full(p.shape, np.nan)
    q[found] = bracketed_roots(excess, _GRID[at[found]], _GRID[at[found] + 1])
    return CorrelationMap(phi, p, (1 + t) / phi.slope_moment(q), q)


@functools.cache
def _grid_moments(phi: Activation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return phi.second_moment(_GRID), phi.slope_moment(_GRID), phi.curvature_moment(_GRID)


# -- normal forms near c = 1, and the curves onto which they collapse


def smooth_gap(t: Numbers, g: Numbers, h: Numbers) -> Numbers:
    """m* = (t + sqrt(t^2 + 2 g h)) / g, without cancellation for t < 0; max(t, 0) times infinity over g = 0 aside."""
    t, g, h = np.asarray(t, float), np.asarray(g, float), np.asarray(h, float)
    root = np.sqrt(t**2 + 2 * g * h)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(t > 0, (t + root) / g, 2 * h / (root - t))
    return np.where((h == 0) & (t <= 0), 0.0, found)[()]


def smooth_depth_scale(t: Numbers, g: Numbers, h: Numbers) -> Numbers:
    """xi = 1 / sqrt(t^2 + 2 g h)."""
    with np.errstate(divide="ignore"):
        return 1 / np.sqrt(np.asarray(t, float) ** 2 + 2 * np.asarray(g, float) * h)


def smooth_collapse(tau: Numbers) -> Numbers:
    """m sqrt(g / 2h) against tau = -t / sqrt(2 g h): sqrt(1 + tau^2) - tau."""
    tau = np.asarray(tau, float)
    root = np.sqrt(1 + tau**2)
    return np.where(tau > 0, 1 / (root + tau), root - tau)[()]


def kinked_gap(t: Numbers, h: Numbers) -> Numbers:
    """m* = (h / K)^(2/3) y^2 with y of `kinked_collapse`; (t / K)^2 for h = 0 and t > 0."""
    t, h = np.asarray(t, float), np.asarray(h, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = -t / (K ** (2 / 3) * h ** (1 / 3))
        found = (h / K) ** (2 / 3) * kinked_collapse(np.where(h > 0, u, 0.0))
    return np.where(h > 0, found, (np.maximum(t, 0) / K) ** 2)[()]


def kinked_depth_scale(t: Numbers, h: Numbers) -> Numbers:
    """1 / xi = K^(2/3) h^(1/3) (u + 1.5 y), u = -t / (K^(2/3) h^(1/3)); at h = 0 it is -t, or t / 2 for t > 0."""
    t, h = np.asarray(t, float), np.asarray(h, float)
    unit = K ** (2 / 3) * h ** (1 / 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(h > 0, -t / unit, 0.0)
        rate = np.where(h > 0, unit * (u + 1.5 * np.sqrt(kinked_collapse(u))), np.where(t > 0, t / 2, -t))
        return (1 / rate)[()]


def kinked_collapse(u: Numbers) -> Numbers:
    """m (K / h)^(2/3) against u = -t / (K^(2/3) h^(1/3)): y^2 with y^3 + u y^2 = 1, y > 0."""
    u = np.asarray(u, float)
    with np.errstate(divide="ignore"):
        y = np.where(
            u > 1, 1 / np.sqrt(np.abs(u)), 1 + np.maximum(-u, 0)
        )  # right of the root: Newton falls onto it
    for _ in range(MOST_STEPS):
        new = y - (y**3 + u * y**2 - 1) / (3 * y**2 + 2 * u * y)
        done = not np.any(np.abs(new - y) > CLOSE * y)
        y = new
        if done:
            break
    return (y**2)[()]


# -- by depth


def correlations(reading: str, p: float, sw2: float, sb2: float, c0: float, q0: float, depth: int) -> Numbers:
    """Correlation of two inputs of equal norm after every layer, off the fixed point of the variance too.

    Args:
        reading: one of `READINGS`. "ReLU-formal" has no variance to follow and iterates its map.
        p: dropout rate of every layer.
        c0: correlation of the first pre-activations.
        q0: their variance.
        depth: layers L.

    Returns:
        c_0 ... c_L, (L + 1,).
    """
    phi, rho = READINGS[reading], 1 - p
    q, m = float(q0), 1.0 - c0
    found = [m]
    formal = CorrelationMap(phi, p, sw2, 1.0)
    settled, moment, new_q = False, 0.0, 0.0
    for _ in range(depth):
        if reading == "ReLU-formal":
            m = float(formal.gap(m))
        else:
            if not settled:
                moment = float(phi.second_moment(q))
                new_q = sw2 / rho * moment + sb2
            if new_q > 0:
                m = float(sw2 * p / rho * moment + sw2 * phi.fall(q, m)) / new_q
            settled = abs(new_q - q) <= FLAT * q
            if not settled:  # a variance that leaves for ever is stopped once the map no longer feels it
                q = min(max(new_q, SMALLEST_VARIANCE), LARGEST_VARIANCE)
        m = min(max(m, 0.0), 2.0)
        found.append(m)
    return 1 - np.array(found)


def self_correlations(rates: Numbers) -> Numbers:
    """Correlation of one input's two passes, each with its own masks, in a ReLU network of He's initialisation.

    c_0 = 1 and c_l = (1 - h_l) F0(c_(l-1)): what a layer's dropout takes from it, and what the layers after give back.

    Args:
        rates: h_1 ... h_L along the last axis, (..., L).

    Returns:
        c_1 ... c_L, the shape of `rates`.
    """
    rates = np.asarray(rates, float)
    m = np.zeros(rates.shape[:-1])
    found = np.empty_like(rates)
    for layer in range(rates.shape[-1]):
        m = CorrelationMap(RELU, rates[..., layer], 2 * (1 - rates[..., layer]), np.float64(1)).gap(m)
        found[..., layer] = 1 - m
    return found


def _check(reading: str, p: float, sw2: float, sb2: float) -> None:
    if reading not in READINGS:
        raise BadInput(f"There is no activation {reading!r}; choose one of {', '.join(READINGS)}.")
    if not 0 <= p < 1:
        raise BadInput(f"A dropout rate of {p:g} was given; it has to be at least 0 and less than 1.")
    if not (sw2 > 0 and math.isfinite(sw2)):
        raise BadInput(f"A weight variance of {sw2:g} was given; it has to be a positive number.")
    if not (sb2 >= 0 and math.isfinite(sb2)):
        raise BadInput(f"A bias variance of {sb2:g} was given; it has to be 0 or a positive number.")
