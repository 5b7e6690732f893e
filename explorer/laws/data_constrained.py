"""Training on repeated data: every further epoch is worth less, and so is every excess parameter.

Muennighoff et al. 2023, arXiv 2305.16264. N is the number of parameters, D training tokens with
repetition, U unique tokens, all above zero; the loss is in nats per token. All arguments broadcast;
results have the broadcast shape; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from explorer.laws import allocation, chinchilla
from explorer.laws.law import Arrays, Coefficient, Law


def effective_tokens(D: ArrayLike, U: ArrayLike, R_D: ArrayLike) -> np.ndarray:
    """D' = U + U R_D (1 - exp(-(D/U - 1) / R_D)): fresh tokens worth as much as D out of U unique.

    D itself as long as D <= U: then every token is fresh, and only D of the U are used.
    """
    D, U = np.asarray(D, float), np.asarray(U, float)
    return _saturated(D, np.minimum(U, D), np.asarray(R_D, float))


def matched_parameters(
    U: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike
) -> np.ndarray:
    """(U G)^(beta/alpha) G: the parameters for which U tokens, seen once, are compute-optimal."""
    log_G = allocation.log_optimum_scale(A, B, alpha, beta)
    log_U = np.log(np.asarray(U, float))
    log_matched = np.asarray(beta, float) / np.asarray(alpha, float) * (log_U + log_G) + log_G
    return np.exp(np.clip(log_matched, -500.0, 500.0))  # neither zero nor infinite: it is divided by


def effective_parameters(N: ArrayLike, matched: ArrayLike, R_N: ArrayLike) -> np.ndarray:
    """N' = U_N + U_N R_N (1 - exp(-(N/U_N - 1) / R_N)) with U_N = min(N, matched).

    N itself as long as N <= matched; parameters in excess are discounted like repeated tokens.
    """
    N = np.asarray(N, float)
    return _saturated(N, np.minimum(N, np.asarray(matched, float)), np.asarray(R_N, float))


def loss(
    N: ArrayLike,
    D: ArrayLike,
    U: ArrayLike,
    E: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    R_D: ArrayLike,
    R_N: ArrayLike,
) -> np.ndarray:
    """E + A / N'^alpha + B / D'^beta in nats per token.

    The Chinchilla law where D <= U and N is not above `matched_parameters` of the unique tokens used; a
    larger model is discounted even at one epoch.
    """
    unique = np.minimum(np.asarray(U, float), np.asarray(D, float))
    tokens = effective_tokens(D, U, R_D)
    parameters = effective_parameters(N, matched_parameters(unique, A, B, alpha, beta), R_N)
    return chinchilla.loss(parameters, tokens, E, A, B, alpha, beta)


def _saturated(total: np.ndarray, fresh: np.ndarray, constant: np.ndarray) -> np.ndarray:
    return fresh - fresh * constant * np.expm1(-(total / fresh - 1) / constant)


def starts(variables: Arrays, loss: np.ndarray, fixed: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Coefficients to start a fit from: those of the Chinchilla law in N and D', for some R_D and R_N."""
    values = np.array([2.0, 6.0, 20.0, 60.0])
    found: list[dict[str, np.ndarray]] = []
    for R_D in [fixed["R_D"]] if "R_D" in fixed else values:
        tokens = effective_tokens(variables["D"], variables["U"], R_D)
        base = chinchilla.starts({"N": variables["N"], "D": tokens}, loss, fixed)
        count = len(base["E"])
        for R_N in [fixed["R_N"]] if "R_N" in fixed else values:
            found.append({**base, "R_D": np.full(count, R_D), "R_N": np.full(count, R_N)})
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


DATA_CONSTRAINED = Law(
    name="data-constrained",
    title="Data-constrained: Chinchilla in effective parameters and tokens",
    variables=("N", "D", "U"),
    coefficients=(
        *chinchilla.COEFFICIENTS,
        Coefficient(
            "R_D", 15.387756, 0.05, 1e3, True, "R_D*", "", "How many repeats of the data pay.", (1.0, 100.0)
        ),
        Coefficient(
            "R_N", 5.309743, 0.05, 1e3, True, "R_N*", "", "How many excess parameters pay.", (1.0, 100.0)
        ),
    ),
    function=loss,
    source="Muennighoff et al. 2023, arXiv 2305.16264",
    validity="fitted up to 9 B parameters and 900 B tokens",
    starts=starts,
)
