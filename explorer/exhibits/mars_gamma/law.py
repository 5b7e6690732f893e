"""Gamma-similarity and the bounds it gives: how much of the variance-reduction correction to keep.

    c_t = g_t + gamma b1 / (1 - b1) (g_t - g'_t),   g_t, g'_t: the gradients at x_t and x_{t-1} on one minibatch

gamma = 0 is momentum (AdamW), gamma = 1 is momentum variance reduction (MVR, STORM), MARS takes 0.025. Symbols, all
float64 and broadcast against each other: L smoothness; delta the similarity constant (standard deviation of minibatch
gradient differences, a unit of distance); sigma the standard deviation of minibatch gradients; eps the wanted gradient
norm; Delta0 = f(x_0) - inf f. Source of the bounds: Shulgin, Gadaev, Khirirat, Richtarik, "Understanding MARS".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Values = float | np.ndarray


def corrected_gradient(g: Values, earlier: Values, gamma: Values, b1: Values) -> np.ndarray:
    """c = g + gamma b1 / (1 - b1) (g - earlier), before any clipping (MARS, Yuan et al. 2025)."""
    return np.asarray(g + gamma * b1 / (1 - b1) * (g - earlier))


def of_batch(constant: Values, batch: Values) -> np.ndarray:
    """delta or sigma of a minibatch of `batch` independent sequences, from that of one."""
    return constant / np.sqrt(batch)


# -- similarity ---------------------------------------------------------------------------------------------------


def similarity(gamma: Values, L: Values, delta: Values) -> np.ndarray:
    """delta_gamma: how far gamma times a minibatch's gradient difference is from the true one, a unit of distance.

    delta_gamma^2 = gamma^2 delta^2 + (1 - gamma)^2 L^2 (Lemma 1). For one pair of points it is an identity between
    ||E D||^2 and Var D; the supremum over pairs makes it an upper bound. L at gamma = 0, delta at gamma = 1.
    """
    return np.hypot(gamma * delta, (1 - gamma) * L)


def similarity_optimum(L: Values, delta: Values) -> np.ndarray:
    """gamma_sim = L^2 / (L^2 + delta^2), where delta_gamma is least: similarity alone, without any penalty."""
    return 1 / (1 + (np.asarray(delta, float) / L) ** 2)


def least_similarity(L: Values, delta: Values) -> np.ndarray:
    """delta_gamma at gamma_sim: L delta / sqrt(L^2 + delta^2), below both L and delta."""
    return L * np.asarray(delta, float) / np.hypot(L, delta)


def coordinate_example(n: Values, Lh: Values) -> tuple[np.ndarray, np.ndarray]:
    """(L, delta) of f_i = Lh x_i^2 / 2 with i uniform on 1..n, for which Lemma 1 is an equality; gamma_sim = 1/n."""
    n = np.asarray(n, float)
    return Lh / n, np.sqrt(n - 1) * Lh / n


# -- Theorem 1: a number of steps -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steps:
    """What Theorem 1 prescribes, each of the shape of gamma: 1 - b1 = beta, the step size eta, and T steps."""

    beta: np.ndarray
    a: np.ndarray
    eta: np.ndarray
    T: np.ndarray


def steps(
    gamma: Values,
    L: Values,
    delta: Values,
    sigma: Values,
    eps: Values,
    Delta0: Values,
) -> Steps:
    """Steps T after which E ||grad f||^2 <= 4 eps^2 is guaranteed, for fixed gamma (Theorem 1, T not rounded up).

    beta = min(1, eps^2 / sigma^2). With sigma <= eps beta is 1: plain SGD, and gamma plays no role. The guarantee is
    for the update without Adam's preconditioner and without clipping.
    """
    beta = mixing(sigma, eps)
    penalty, weight = _curvature(L, beta)
    a = penalty * (1 - gamma) ** 2 + weight * similarity(gamma, L, delta) ** 2
    eta = 1 / (L + np.sqrt(a))
    return Steps(
        beta, a, eta, 2 * Delta0 / (eta * np.square(eps)) + np.square(sigma / np.asarray(eps, float))
    )


def steps_optimum(L: Values, delta: Values, sigma: Values, eps: Values) -> np.ndarray:
    """The gamma at which Theorem 1's T is least; NaN where gamma plays no role.

    T rises with a, and a is a parabola in gamma. This optimum lies strictly inside (0, 1), also where the surrogate J
    of Corollary 2 prefers gamma = 1: the surrogate adds the penalty to the similarity, the theorem adds squares.
    """
    penalty, weight = _curvature(L, mixing(sigma, eps))
    pull = penalty + weight * np.square(L)
    with np.errstate(invalid="ignore"):
        return pull / (pull + weight * np.square(delta))


def mixing(sigma: Values, eps: Values) -> np.ndarray:
    """beta = 1 - b1 of Theorem 1: min(1, eps^2 / sigma^2)."""
    return np.minimum(1.0, np.square(np.asarray(eps, float) / sigma))


def _curvature(L: Values, beta: Values) -> tuple[np.ndarray, np.ndarray]:
    """a = first (1 - gamma)^2 + second delta_gamma^2."""
    beta = np.asarray(beta, float)
    return (1 - beta) ** 3 * np.square(L / beta), 2 * (1 - beta) ** 2 / beta


# -- Corollary 1: a bound after T steps -----------------------------------------------------------------------------


def horizon_mixing(
    T: Values, gamma: Values, L: Values, delta: Values, sigma: Values, Delta0: Values
) -> np.ndarray:
    """beta_T that Corollary 1 takes for a horizon of T steps; the corollary holds where it is at most 1."""
    noise = np.square(sigma) * np.asarray(T, float)
    direct = np.sqrt(np.abs(1 - gamma) * L * Delta0 / noise)
    return direct + 2 ** (-1 / 3) * (similarity(gamma, L, delta) * Delta0 / noise) ** (2 / 3)


def horizon_bound(
    T: Values, gamma: Values, L: Values, delta: Values, sigma: Values, Delta0: Values
) -> np.ndarray:
    """Bound on E ||grad f||^2 after T steps (Corollary 1); NaN where its beta_T is above 1.

    2 L Delta0 / T + 4 sigma sqrt(|gamma - 1| L Delta0 / T) + 3 (2 delta_gamma Delta0 sigma / T)^(2/3) + sigma^2 / T:
    MVR falls with slope -2/3, every other gamma ends with slope -1/2.
    """
    T = np.asarray(T, float)
    direct = 4 * sigma * np.sqrt(np.abs(1 - gamma) * L * Delta0 / T)
    similar = 3 * (2 * similarity(gamma, L, delta) * Delta0 * sigma / T) ** (2 / 3)
    bound = 2 * L * Delta0 / T + direct + similar + np.square(sigma) / T
    return np.where(horizon_mixing(T, gamma, L, delta, sigma, Delta0) <= 1, bound, np.nan)


# -- Corollary 2: a surrogate without constants ---------------------------------------------------------------------


def penalty_ratio(L: Values, delta: Values, sigma: Values, eps: Values) -> np.ndarray:
    """L sigma / (eps delta): the penalty on gamma < 1 over MVR's similarity term. Below 1 a gamma < 1 pays."""
    return L * np.asarray(sigma, float) / (eps * np.asarray(delta, float))


def surrogate(
    gamma: Values,
    L: Values,
    delta: Values,
    sigma: Values,
    eps: Values,
    Delta0: Values,
) -> np.ndarray:
    """J = A delta_gamma + B (1 - gamma), A = Delta0 sigma / eps^3, B = L Delta0 sigma^2 / eps^4 (Corollary 2).

    The part of the gradient evaluations that depends on gamma, up to constants: J is no number of steps.
    """
    A = Delta0 * np.asarray(sigma, float) / np.asarray(eps, float) ** 3
    return A * (similarity(gamma, L, delta) + L * np.asarray(sigma, float) / eps * (1 - gamma))


def surrogate_optimum(L: Values, delta: Values, sigma: Values, eps: Values) -> np.ndarray:
    """gamma* of Corollary 2, similarity and penalty: 1 unless L sigma < eps delta; never below gamma_sim."""
    L, delta = np.asarray(L, float), np.asarray(delta, float)
    pull = penalty_ratio(L, delta, sigma, eps)
    both = L**2 + delta**2
    left = both - (pull * delta) ** 2
    inner = np.where(pull < 1, left, 1.0)
    return np.where(pull < 1, np.minimum((L**2 + L * pull * delta**2 / np.sqrt(inner)) / both, 1.0), 1.0)


def speed_up(L: Values, delta: Values, sigma: Values, eps: Values) -> np.ndarray:
    """J(1) / J(gamma*): how much of MVR's bound the best gamma saves. 1 where MVR is best; Delta0 cancels."""
    best = surrogate_optimum(L, delta, sigma, eps)
    return surrogate(1.0, L, delta, sigma, eps, 1.0) / surrogate(best, L, delta, sigma, eps, 1.0)
