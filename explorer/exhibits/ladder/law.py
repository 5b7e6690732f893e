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


def flops_per_token(N: np.ndarray, account: str = "6ND") -> np.ndarray:
    """Training FLOPs a token of a model with N parameters.

    6N for the parameters; the output head adds 6 d V; attention adds 12 L T d (Hoffmann et al. 2022, appendix F, and
    Porian et al. 2024 count both). Width d and depth L follow from N = 12 L d^2 with d / L = 128; V = 32,000 and
    T = 2,048.

    Args:
        N: parameters without embeddings, any shape.
        account: one of `ACCOUNTS`.

    Returns:
        FLOPs a token, shape of N.
    """
    N = np.asarray(N, dtype=float)
    width = (N * ASPECT / 12) ** (1 / 3)
    flops = 6 * N
    if account != "6ND":
        flops = flops + 6 * width * VOCABULARY
    if account == "6ND + head + attention":
        flops = flops + 12 * (width / ASPECT) * CONTEXT * width
    return flops


def tokens_for(C: np.ndarray, N: np.ndarray, account: str = "6ND") -> np.ndarray:
    """Tokens that a model of N parameters can see for C FLOPs."""
    return np.asarray(C, dtype=float) / flops_per_token(N, account)


def optimum(constants: Constants, C: np.ndarray, account: str = "6ND") -> tuple[np.ndarray, np.ndarray]:
    """The best (N, D) for C FLOPs: in closed form for 6ND, else where the loss along the budget is least.

    Args:
        C: FLOPs, shape (n,) or scalar.

    Returns:
        N*, D*, each of the shape of C. The search is exact to about 1e-4 in ln N.
    """
    C = np.asarray(C, dtype=float)
    shape = (constants.A, constants.B, constants.alpha, constants.beta)
    N = allocation.optimal_parameters(C, *shape)
    if account == "6ND":
        return N, allocation.optimal_tokens(C, *shape)
    # Heads and attention only make small models dearer: the optimum lies within a few decades of the closed form.
    step, offsets = 0.02, np.arange(-150, 151) * 0.02
    log_N = np.log(N)[..., None] + offsets
    losses = constants.loss(np.exp(log_N), tokens_for(C[..., None], np.exp(log_N), account))
    best = np.clip(np.argmin(losses, axis=-1), 1, len(offsets) - 2)[..., None]
    left, middle, right = (np.take_along_axis(losses, best + k, -1)[..., 0] for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    vertex = np.where(bend > 0, 0.5 * (left - right) / np.where(bend > 0, bend, 1.0), 0.0)
    N = np.exp(np.take_along_axis(log_N, best, -1)[..., 0] + step * np.clip(vertex, -1, 1))
    return N, tokens_for(C, N, account)


def valley(
    constants: Constants, C: float, account: str = "6ND", decades: float = 1.5, points: int = 121
) -> tuple[np.ndarray, np.ndarray]:
    """Loss against N at a fixed budget, `decades` to either side of the optimum.

    Returns:
        N and loss, each of shape (points,).
    """
    centre, _ = optimum(constants, np.asarray(C), account)
    N = centre * np.logspace(-decades, decades, points)
    return N, constants.loss(N, tokens_for(C, N, account))


def waste(constants: Constants, N: float, D: float, account: str = "6ND") -> float:
    """Reducible loss of (N, D) over the least one at the same compute; Phi(N/N*) for 6ND. At least 1."""
    C = flops_per_token(np.asarray(N), account) * D
    best = constants.loss(*optimum(constants, C, account)) - constants.E
    return float((constants.loss(np.asarray(N), np.asarray(D)) - constants.E) / best)
