"""The first scaling laws of language models: pure power laws without an irreducible term.

Kaplan et al. 2020, arXiv 2001.08361. N is the number of parameters WITHOUT embeddings, D training
tokens, S optimiser steps, all above zero; the loss is in nats per token. The paper gives compute in
PF-days; here compute is in FLOP like everywhere else, and only the constant C_c keeps the paper's unit. All
arguments broadcast; results have the broadcast shape; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from explorer.laws.law import Arrays, Coefficient, Law
from explorer.laws.projection import exponent_grid, mesh, project

PF_DAY = 8.64e19
"""FLOP in one petaFLOP/s-day."""


def _log(x: ArrayLike) -> np.ndarray:
    return np.log(np.asarray(x, float))


def parameters_loss(N: ArrayLike, N_c: ArrayLike = 8.8e13, alpha_N: ArrayLike = 0.076) -> np.ndarray:
    """(N_c / N)^alpha_N: parameters limit, data and compute do not (eq. 1.1)."""
    return np.exp(alpha_N * (_log(N_c) - _log(N)))


def tokens_loss(D: ArrayLike, D_c: ArrayLike = 5.4e13, alpha_D: ArrayLike = 0.095) -> np.ndarray:
    """(D_c / D)^alpha_D: data limit, with early stopping (eq. 1.2)."""
    return np.exp(alpha_D * (_log(D_c) - _log(D)))


def compute_loss(C: ArrayLike, C_c: ArrayLike = 3.1e8, alpha_C: ArrayLike = 0.050) -> np.ndarray:
    """(C_c / C)^alpha_C: best loss at compute C in FLOP, with C_c in PF-days (eq. 1.3)."""
    return np.exp(alpha_C * (_log(C_c) + np.log(PF_DAY) - _log(C)))


def loss(
    N: ArrayLike,
    D: ArrayLike,
    N_c: ArrayLike = 6.4e13,
    D_c: ArrayLike = 1.8e13,
    alpha_N: ArrayLike = 0.076,
    alpha_D: ArrayLike = 0.103,
) -> np.ndarray:
    """((N_c / N)^(alpha_N / alpha_D) + D_c / D)^alpha_D: both limit (eq. 1.5)."""
    alpha_N, alpha_D = np.asarray(alpha_N, float), np.asarray(alpha_D, float)
    n = alpha_N / alpha_D * (_log(N_c) - _log(N))
    return np.exp(alpha_D * np.logaddexp(n, _log(D_c) - _log(D)))


def steps_loss(
    N: ArrayLike,
    S: ArrayLike,
    N_c: ArrayLike = 6.5e13,
    S_c: ArrayLike = 2.1e3,
    alpha_N: ArrayLike = 0.077,
    alpha_S: ArrayLike = 0.76,
) -> np.ndarray:
    """(N_c / N)^alpha_N + (S_c / S)^alpha_S: loss after S steps, with a large batch (eq. 1.6)."""
    return np.exp(alpha_N * (_log(N_c) - _log(N))) + np.exp(alpha_S * (_log(S_c) - _log(S)))


def optimal_parameters(C: ArrayLike, scale: ArrayLike = 1.3e9, exponent: ArrayLike = 0.73) -> np.ndarray:
    """scale (C / PF-day)^exponent: parameters without embeddings that are best at compute C in FLOP."""
    return np.asarray(scale, float) * np.exp(exponent * (_log(C) - np.log(PF_DAY)))


def critical_batch(loss: ArrayLike, scale: ArrayLike = 2.1e8, alpha_B: ArrayLike = 0.21) -> np.ndarray:
    """scale / loss^(1/alpha_B): batch in tokens above which more data per step saves few steps (eq. 1.4)."""
    return np.asarray(scale, float) * np.exp(-_log(loss) / alpha_B)


def log_jacobian(
    N: ArrayLike, D: ArrayLike, N_c: ArrayLike, D_c: ArrayLike, alpha_N: ArrayLike, alpha_D: ArrayLike
) -> np.ndarray:
    """d ln L / d (ln N_c, ln D_c, alpha_N, alpha_D) of `loss`, on a last axis of length 4."""
    alpha_N, alpha_D = np.asarray(alpha_N, float), np.asarray(alpha_D, float)
    log_n, log_d = _log(N_c) - _log(N), _log(D_c) - _log(D)
    n = alpha_N / alpha_D * log_n
    total = np.logaddexp(n, log_d)
    share = np.exp(n - total)
    parts = (share * alpha_N, (1 - share) * alpha_D, share * log_n, total - share * n)
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def starts(variables: Arrays, loss: np.ndarray, fixed: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Coefficients to start a fit from: given the exponents, L^(1/alpha_D) is linear in two constants."""
    alpha_N, alpha_D = mesh(
        exponent_grid(fixed.get("alpha_N"), 0.02, 1.5), exponent_grid(fixed.get("alpha_D"), 0.02, 1.5)
    )
    ratio = alpha_N / alpha_D
    # Scaled to the largest loss: L^(1/alpha_D) itself would overflow for a large loss and a small exponent.
    largest = np.max(loss)
    target = np.exp(np.log(loss / largest) / alpha_D[:, None])
    smallest_N, smallest_D = np.min(variables["N"]), np.min(variables["D"])
    columns = [
        np.exp(-ratio[:, None] * np.log(variables["N"] / smallest_N)),
        np.broadcast_to(smallest_D / variables["D"], target.shape),
    ]
    x, y = project(columns, target, 1 / target)
    log_top = np.log(largest) / alpha_D
    return {
        "N_c": smallest_N * np.exp(np.clip((np.log(x) + log_top) / ratio, -100, 500)),
        "D_c": smallest_D * np.exp(np.clip(np.log(y) + log_top, -100, 500)),
        "alpha_N": alpha_N,
        "alpha_D": alpha_D,
    }


KAPLAN = Law(
    name="kaplan",
    title="Kaplan: L = ((N_c/N)^(α_N/α_D) + D_c/D)^α_D",
    variables=("N", "D"),
    coefficients=(
        Coefficient(
            "N_c", 6.4e13, 1e-6, 1e80, True, "N_c", "parameters", "Scale of the parameter term.", (1e10, 1e17)
        ),
        Coefficient(
            "D_c", 1.8e13, 1e-6, 1e80, True, "D_c", "tokens", "Scale of the token term.", (1e10, 1e17)
        ),
        Coefficient(
            "alpha_N", 0.076, 1e-3, 3.0, False, "α_N", "", "Exponent where parameters limit.", (0.02, 0.5)
        ),
        Coefficient("alpha_D", 0.103, 1e-3, 3.0, False, "α_D", "", "Exponent where data limit.", (0.02, 0.5)),
    ),
    function=loss,
    source="Kaplan et al. 2020, arXiv 2001.08361, eq. 1.5",
    validity="fitted on 768 to 1.5 B parameters without embeddings",
    log_jacobian=log_jacobian,
    starts=starts,
)
