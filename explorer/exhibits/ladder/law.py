"""The Chinchilla family as the ladder draws it: curves, valleys, the frontier, and how FLOPs are counted.

The formulas themselves are in `explorer.laws`; here they meet a way of counting FLOPs. Everywhere N is parameters
without embeddings, D tokens, C training FLOPs, losses in nats per token; all float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.laws import allocation, chinchilla

ACCOUNTS = ("6ND", "6ND + head", "6ND + head + attention")
ASPECT = 128  # width / depth of the transformer that the head and attention terms assume
VOCABULARY = 32_000
CONTEXT = 2_048
NEWTON_STEPS = 12


@dataclass(frozen=True)
class Constants:
    """E, A, B, alpha, beta of L = E + A/N^alpha + B/D^beta (Hoffmann et al. 2022, eq. 2)."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, N: np.ndarray, D: np.ndarray) -> np.ndarray:
        return chinchilla.loss(N, D, self.E, self.A, self.B, self.alpha, self.beta)


def _terms(N: np.ndarray, account: str) -> list[tuple[float, np.ndarray]]:
    """The parts of the price of a token: the power of N that each grows with, and its FLOPs."""
    N = np.asarray(N, dtype=float)
    width = (N * ASPECT / 12) ** (1 / 3)
    terms = [(1.0, 6 * N)]
    if account != "6ND":
        terms.append((1 / 3, 6 * width * VOCABULARY))
    if account == "6ND + head + attention":
        terms.append((2 / 3, 12 * (width / ASPECT) * CONTEXT * width))
    return terms


def flops_per_token(N: np.ndarray, account: str = "6ND") -> np.ndarray:
    """Training FLOPs a token of a model with N parameters.

    6N for the parameters; the output head adds 6 d V; attention adds 12 L T d (Porian et al. 2024 show what leaving
    them out does to the exponents). Width d and depth L follow from N = 12 L d^2 with d / L = 128; V = 32,000 and
    T = 2,048.

    Args:
        N: parameters without embeddings, any shape.
        account: one of `ACCOUNTS`.

    Returns:
        FLOPs a token, shape of N.
    """
    return sum(flops for _, flops in _terms(N, account))  # type: ignore[return-value]


def tokens_for(C: np.ndarray, N: np.ndarray, account: str = "6ND") -> np.ndarray:
    """Tokens that a model of N parameters can see for C FLOPs."""
    return np.asarray(C, dtype=float) / flops_per_token(N, account)


def optimum(constants: Constants, C: np.ndarray, account: str = "6ND") -> tuple[np.ndarray, np.ndarray]:
    """The best (N, D) for C FLOPs: in closed form for 6ND, else from the first-order condition.

    Along a budget ln D = ln C - ln price(N), so at the optimum alpha A N^-alpha = e(N) beta B D^-beta, where e is the
    elasticity of the price of a token in N. The difference of the logarithms rises with ln N nearly as a straight
    line: Newton's steps settle it.

    Args:
        C: FLOPs, shape (n,) or scalar.

    Returns:
        N*, D*, each of the shape of C.
    """
    C = np.asarray(C, dtype=float)
    A, B, alpha, beta = constants.A, constants.B, constants.alpha, constants.beta
    N = allocation.optimal_parameters(C, A, B, alpha, beta)
    if account == "6ND":
        return N, allocation.optimal_tokens(C, A, B, alpha, beta)
    balance = np.log(beta * B) - np.log(alpha * A)
    log_N = np.log(N)
    for _ in range(NEWTON_STEPS):
        terms = _terms(np.exp(log_N), account)
        price = sum(flops for _, flops in terms)
        elasticity = sum(power * flops for power, flops in terms) / price
        gap = balance + alpha * log_N - beta * (np.log(C) - np.log(price)) + np.log(elasticity)
        curvature = sum(power**2 * flops for power, flops in terms) / price / elasticity - elasticity
        log_N = log_N - gap / (alpha + beta * elasticity + curvature)
    N = np.exp(log_N)
    return N, tokens_for(C, N, account)


def valley(
    constants: Constants, C: float, account: str = "6ND", decades: float = 2.0, points: int = 121
) -> tuple[np.ndarray, np.ndarray]:
    """Loss against N at a fixed budget, `decades` to either side of the optimum.

    Returns:
        N and loss, each of shape (points,).
    """
    centre, _ = optimum(constants, np.asarray(C), account)
    N = centre * np.logspace(-decades, decades, points)
    return N, constants.loss(N, tokens_for(np.asarray(C), N, account))


def waste(constants: Constants, N: float, D: float, account: str = "6ND") -> float:
    """Reducible loss of (N, D) over the least one at the same compute; Phi(N/N*) for 6ND. At least 1."""
    C = flops_per_token(np.asarray(N), account) * D
    best = constants.loss(*optimum(constants, C, account)) - constants.E
    return float((constants.loss(np.asarray(N), np.asarray(D)) - constants.E) / best)
