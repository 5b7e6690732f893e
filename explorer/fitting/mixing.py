"""Fits of the laws of data mixing to losses of every domain under several mixtures.

fitted = fit_mixing(h, N, D, losses)          # h (n, K), N and D (n,), losses (n, K); a NaN was not measured
fitted.predict(h, N, D)
fit_exponential(h, losses).predict(h)         # without N and D, so for one size and one number of tokens
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import BadInput
from explorer.laws import mixing
from explorer.laws.mixing import Coefficients

LEAST, MOST = 1e-4, 30.0
"""Nats that a domain's capacity term and noise term may have at an even share of the typical N and D."""
HEAD = (1e-3, 0.9)
"""Size of the head, as a share of an even part of the smallest N."""
EXPONENTS_B, EXPONENTS_A = (0.01, 5.0), (0.01, 3.0)
STARTS, FIRST_STEPS, LAST_STEPS = 6, 60, 150
"""Starts of a fit, steps of each, and steps of the best from there on."""
FLOORS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.995)
"""Where the exponential law's fit starts its floor, as a share of the least loss."""


@dataclass(frozen=True)
class MixingFit:
    """The law of capacity and noise, fitted.

    Args:
        coefficients: in the units of the N and D that were given.
        mean_squared_error: over the fitted losses, nats^2.
        points: fitted losses.
        starts: mean squared error at the end of every start, the least first.
        undetermined: directions among the 5 K + 1 logarithms that these points leave open by more than a factor of e.
    """

    coefficients: Coefficients
    mean_squared_error: float
    points: int
    starts: tuple[float, ...]
    undetermined: int

    def predict(self, h: ArrayLike, N: ArrayLike, D: ArrayLike) -> np.ndarray:
        """Losses (..., K); see `explorer.laws.mixing.loss`."""
        return mixing.loss(h, N, D, self.coefficients)

    @property
    def note(self) -> str:
        """One sentence on how far the coefficients are known."""
        count = 5 * self.coefficients.domains + 1
        if not self.undetermined:
            return f"All {count} coefficients are determined by the {self.points} losses."
        return (
            f"Sloppy: {self.undetermined} of {count} directions among the coefficients are open by more than a factor "
            f"of e ({self.points} losses); read the predictions, not the coefficients."
        )


@dataclass(frozen=True)
class ExponentialFit:
    """L_i = c_i + exp(sum_j t_ij r_j): k_i is not apart from t_ij where the weights sum to one."""

    c: np.ndarray
    t: np.ndarray

    def predict(self, r: ArrayLike) -> np.ndarray:
        """Losses (..., M) of mixtures r (..., K)."""
        return mixing.exponential_loss(r, self.c, np.ones_like(self.c), self.t)


@dataclass(frozen=True)
class LinearFit:
    """L_i = intercept_i + sum_j slope_ij r_j."""

    intercept: np.ndarray
    slope: np.ndarray

    def predict(self, r: ArrayLike) -> np.ndarray:
        """Losses (..., M) of mixtures r (..., K)."""
        return mixing.linear_loss(r, self.intercept, self.slope)


def fit_mixing(
    h: ArrayLike,
    N: ArrayLike,
    D: ArrayLike,
    loss: ArrayLike,
    *,
    active: float = 0.0,
    starts: int = STARTS,
    seed: int = 0,
) -> MixingFit:
    """The coefficients with the least mean squared error, by bounded least squares from several starts.

    The exponents and the sizes of both terms are fitted in their logarithms, the terms as nats at an even share of the
    typical N and D, so that they hardly depend on the exponents. Derivatives are exact.

    Args:
        h: mixtures (n, K).
        N, D: size and tokens of each run, (n,) or one number.
        loss: (n, K), nats per token; NaN where nothing was measured.
        active: losses of domains with a smaller weight than this are left out.
        starts: how many; a bad one ends with a term at zero, so take at least 4.
        seed: of the starts.

    Raises:
        BadInput: shapes that do not fit, values that are not above zero, a domain without any loss, or no start.
    """
    h, N, D, loss, chosen = _checked(h, N, D, loss, active)
    if starts < 1:
        raise BadInput(
            f"{starts} starts fit nothing; give at least 1, and 4 or more for a fit worth trusting."
        )
    from scipy.optimize import least_squares

    K = h.shape[1]
    typical_x, typical_tokens = np.exp(np.log(N).mean()) / K, np.exp(np.log(D).mean()) / K
    least = np.array([loss[chosen[:, i], i].min() for i in range(K)])
    mean = np.array([loss[chosen[:, i], i].mean() for i in range(K)])
    low, high = (
        np.concatenate(
            [
                np.full(K, np.log(EXPONENTS_B[end])),
                np.full(K, np.log((LEAST, MOST)[end])),
                np.full(K, np.log(EXPONENTS_A[end])),
                np.full(K, np.log((LEAST, MOST)[end])),
                np.zeros(K) if end == 0 else least,
                [np.log(HEAD[end] * N.min() / K)],
            ]
        )
        for end in (0, 1)
    )

    def coefficients(theta: np.ndarray) -> Coefficients:
        b, P, a, Q = np.exp(theta[: 4 * K]).reshape(4, K)
        return Coefficients(
            b, P * typical_x**b, a, Q * typical_tokens**a, theta[4 * K : 5 * K], float(np.exp(theta[-1]))
        )

    def residual(theta: np.ndarray) -> np.ndarray:
        return (mixing.loss(h, N, D, coefficients(theta)) - loss)[chosen]

    def slope(theta: np.ndarray) -> np.ndarray:
        found = coefficients(theta)
        J = mixing.jacobian(h, N, D, found)
        # ln c = ln P + b ln x and ln A = ln Q + a ln tokens: exponents move the scales along.
        J[..., :K] += J[..., K : 2 * K] * found.b * np.log(typical_x)
        J[..., 2 * K : 3 * K] += J[..., 3 * K : 4 * K] * found.a * np.log(typical_tokens)
        return J[chosen]

    margin = 1e-6 * (high - low)

    def descend(start: np.ndarray, change: float, most: int) -> Any:
        """Down to where a step changes the cost by less than `change` of it."""
        start = np.clip(start, low + margin, high - margin)
        return least_squares(residual, start, slope, bounds=(low, high), ftol=change, max_nfev=most)

    random = np.random.default_rng(seed)
    ends = []
    for _ in range(starts):
        floor, split = random.uniform(0.2, 0.95, K) * least, random.uniform(0.2, 0.8, K)
        start = [
            np.log(random.uniform(0.1, 1.0, K)),
            np.log(split * (mean - floor)),
            np.log(random.uniform(0.1, 1.0, K)),
            np.log((1 - split) * (mean - floor)),
            floor,
            [np.log(random.uniform(0.02, 0.3) * N.min() / K)],
        ]
        ends.append(descend(np.concatenate(start), 1e-4, FIRST_STEPS))
    ends.sort(key=lambda end: end.cost)
    ends[0] = descend(ends[0].x, 1e-7, LAST_STEPS)
    best, points = ends[0], int(chosen.sum())
    return MixingFit(
        coefficients=coefficients(best.x),
        mean_squared_error=2 * float(best.cost) / points,
        points=points,
        starts=tuple(2 * float(end.cost) / points for end in ends),
        undetermined=_undetermined(best.jac, best.fun),
    )


def fit_exponential(r: ArrayLike, loss: ArrayLike) -> ExponentialFit:
    """The exponential law with the least squared error for each domain, from several starts of its floor.

    Args:
        r: mixtures (n, K).
        loss: (n, M) of M measured domains; NaN where nothing was measured.

    Raises:
        BadInput: shapes that do not fit, or a loss that is not above zero.
    """
    from scipy.optimize import least_squares

    r, loss = _pairs(r, loss)
    K = r.shape[1]
    rows = []
    for y in loss.T:
        known = np.isfinite(y)
        x, y = r[known], y[known]

        def residual(theta: np.ndarray, x: np.ndarray = x, y: np.ndarray = y) -> np.ndarray:
            return theta[0] + np.exp(x @ theta[1:]) - y

        def slope(theta: np.ndarray, x: np.ndarray = x) -> np.ndarray:
            return np.column_stack([np.ones(len(x)), np.exp(x @ theta[1:])[:, None] * x])

        low = np.concatenate([[0.0], np.full(K, -60.0)])
        high = np.concatenate([[y.max()], np.full(K, 10.0)])
        ends = []
        for share in FLOORS:
            floor = share * y.min()
            t = np.linalg.lstsq(x, np.log(y - floor + 1e-6), rcond=None)[0]
            start = np.clip(np.concatenate([[floor], t]), low + 1e-9, high - 1e-9)
            ends.append(least_squares(residual, start, slope, bounds=(low, high), max_nfev=300))
        rows.append(min(ends, key=lambda end: end.cost).x)
    table = np.array(rows)
    return ExponentialFit(table[:, 0], table[:, 1:])


def fit_linear(r: ArrayLike, loss: ArrayLike) -> LinearFit:
    """Least squares for each domain, the shortest solution where the weights sum to one; BadInput as above."""
    r, loss = _pairs(r, loss)
    centre = r.mean(axis=0)
    rows = []
    for y in loss.T:
        known = np.isfinite(y)
        slope = np.linalg.lstsq(r[known] - centre, y[known] - y[known].mean(), rcond=None)[0]
        rest = y[known] - r[known] @ slope
        rows.append(np.concatenate([[rest.mean()], slope]))
    table = np.array(rows)
    return LinearFit(table[:, 0], table[:, 1:])


def mean_relative_error(
    predicted: np.ndarray, measured: np.ndarray, h: np.ndarray | None = None, active: float = 0.0
) -> float:
    """Mean of |predicted - measured| / measured; with `h`, over domains with at least the weight `active`."""
    error = np.abs(np.asarray(predicted) / np.asarray(measured) - 1)
    if h is not None:
        error = np.where(np.asarray(h) >= active, error, np.nan)
    return float(np.nanmean(error))


def _undetermined(jacobian: np.ndarray, residual: np.ndarray) -> int:
    """Directions of theta whose standard error is above 1; all without a degree of freedom to spare."""
    points, count = jacobian.shape
    strengths = np.zeros(count)
    found = np.linalg.svd(jacobian, compute_uv=False)
    strengths[: len(found)] = found
    spread = np.sqrt((residual**2).sum() / max(points - count, 1))
    return int((strengths < max(spread, 1e-12)).sum())


def _checked(
    h: ArrayLike, N: ArrayLike, D: ArrayLike, loss: ArrayLike, active: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    h, loss = _pairs(h, loss)
    if h.shape != loss.shape:
        raise BadInput(
            f"Mixtures of {h.shape[1]} domains were given with losses of {loss.shape[1]}: this law needs the loss of "
            "every domain that is mixed, and of no other."
        )
    if h.shape[1] < 2:
        raise BadInput("One domain cannot be mixed; give at least two.")
    columns = []
    for name, given in (("N", N), ("D", D)):
        try:
            column = np.broadcast_to(np.asarray(given, float), (len(h),)).copy()
        except (TypeError, ValueError):
            raise BadInput(
                f"{name} has to be one number, or one number for each of the {len(h)} runs."
            ) from None
        if not (np.isfinite(column) & (column > 0)).all():
            raise BadInput(f"{name} has a value that is not a finite number above zero.")
        columns.append(column)
    chosen = np.isfinite(loss) & (h >= active)
    for i in range(h.shape[1]):
        if chosen[:, i].sum() < 2:
            raise BadInput(
                f"Domain {i + 1} has fewer than two measured losses with a weight of at least {active:g}; "
                "measure it under more mixtures, or leave it out."
            )
    return h, columns[0], columns[1], loss, chosen


def _pairs(h: ArrayLike, loss: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    h, loss = np.asarray(h, float), np.asarray(loss, float)
    if h.ndim != 2 or loss.ndim != 2 or len(h) != len(loss) or not len(h):
        raise BadInput(
            f"Mixtures of shape {h.shape} and losses of shape {loss.shape} were given; both need one row for every run."
        )
    if not np.isfinite(h).all() or (h < 0).any():
        raise BadInput("A weight is negative or not a number; weights lie between 0 and 1.")
    if (loss <= 0).any() or np.isinf(loss).any():
        raise BadInput("A loss is not above zero; give nats per token, and NaN where nothing was measured.")
    return h, loss
