"""How to spend a compute budget: the best N and D for C = c N D, in closed form.

Hoffmann et al. 2022, arXiv 2203.15556, eq. 4, for the law L = E + (A / N^alpha + B / D^beta)^gamma;
gamma = 1 is theirs. As the outer power is monotone, gamma never moves the optimum, only the loss there.

Everywhere here C is training compute in FLOP, c the FLOP per parameter and token (6 unless counted
otherwise), N parameters, D tokens and the loss in nats per token. All arguments broadcast; results have
the broadcast shape. The work is done in logarithms; a result beyond the floating-point range is
infinity, without a warning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def exponents(alpha: ArrayLike, beta: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(a, b) of N* ~ C^a and D* ~ C^b: a = beta / (alpha + beta), b = alpha / (alpha + beta)."""
    alpha, beta = np.asarray(alpha, float), np.asarray(beta, float)
    return beta / (alpha + beta), alpha / (alpha + beta)


def optimum_scale(A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> np.ndarray:
    """G = (alpha A / (beta B))^(1 / (alpha + beta)), the constant in N* = G (C/c)^a and D* = (C/c)^b / G."""
    return _exp(log_optimum_scale(A, B, alpha, beta))


def log_optimum_scale(A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> np.ndarray:
    """ln G; finite where small exponents drive G itself out of range."""
    alpha, beta = np.asarray(alpha, float), np.asarray(beta, float)
    log_ratio = np.log(alpha) - np.log(beta) + np.log(np.asarray(A, float)) - np.log(np.asarray(B, float))
    return log_ratio / (alpha + beta)


def optimal_parameters(
    C: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike, c: ArrayLike = 6.0
) -> np.ndarray:
    """N* = G (C/c)^a, the number of parameters of least loss at compute C."""
    return _exp(_log_optimum(C, A, B, alpha, beta, c)[0])


def optimal_tokens(
    C: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike, c: ArrayLike = 6.0
) -> np.ndarray:
    """D* = (C/c)^b / G, the number of tokens of least loss at compute C; N* D* = C/c."""
    return _exp(_log_optimum(C, A, B, alpha, beta, c)[1])


def optimal_loss(
    C: ArrayLike,
    E: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 1.0,
    c: ArrayLike = 6.0,
) -> np.ndarray:
    """L*(C) = E + K^gamma C^(-gamma alpha beta / (alpha + beta)), the least loss at compute C.

    K = (1 + alpha/beta) A G^-alpha c^(alpha beta / (alpha + beta)).
    """
    log_N, _ = _log_optimum(C, A, B, alpha, beta, c)
    alpha, beta = np.asarray(alpha, float), np.asarray(beta, float)
    log_inner = np.log1p(alpha / beta) + np.log(np.asarray(A, float)) - alpha * log_N
    return np.asarray(E, float) + _exp(np.asarray(gamma, float) * log_inner)


def penalty(x: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> np.ndarray:
    """Phi(x) = (beta x^-alpha + alpha x^beta) / (alpha + beta): what a wrong size costs at the same compute.

    With N = x N* and D = D*/x the sum A / N^alpha + B / D^beta is Phi(x) times its least value: Phi(x) >= 1,
    and Phi(1) = 1.
    """
    a, b = exponents(alpha, beta)
    log_x = np.log(np.asarray(x, float))
    return a * _exp(-np.asarray(alpha, float) * log_x) + b * _exp(np.asarray(beta, float) * log_x)


def _log_optimum(
    C: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike, c: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    product = np.log(np.asarray(C, float)) - np.log(np.asarray(c, float))
    a, b = exponents(alpha, beta)
    log_G = log_optimum_scale(A, B, alpha, beta)
    return log_G + a * product, b * product - log_G


def _exp(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.exp(x)
