"""The Chinchilla law: an irreducible loss, and a power law each in parameters and in tokens.

Hoffmann et al. 2022, arXiv 2203.15556, eq. 2:  L(N, D) = E + A / N^alpha + B / D^beta.
Beck et al. 2025, arXiv 2510.02228, add an outer exponent:  L(N, D) = E + (A / N^alpha + B / D^beta)^gamma.

Everywhere here N is the number of parameters (above zero), D the number of training tokens (above zero),
and the loss is in nats per token. All arguments broadcast; results have the broadcast shape. Nothing is
raised: a coefficient outside its meaning gives NaN or infinity.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from explorer.laws.law import Arrays, Coefficient, Law
from explorer.laws.projection import exponent_grid, mesh, project


def _power(scale: ArrayLike, size: ArrayLike, exponent: ArrayLike) -> np.ndarray:
    """scale / size^exponent; through the logarithm, so that a size given as a huge integer works too."""
    return np.asarray(scale, float) * np.exp(-np.asarray(exponent, float) * np.log(np.asarray(size, float)))


def loss(
    N: ArrayLike, D: ArrayLike, E: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike
) -> np.ndarray:
    """E + A / N^alpha + B / D^beta in nats per token (Hoffmann et al. 2022, eq. 2).

    E, A and B are in nats per token and not negative; alpha and beta are pure numbers.
    """
    return np.asarray(E, float) + _power(A, N, alpha) + _power(B, D, beta)


def generalised_loss(
    N: ArrayLike,
    D: ArrayLike,
    E: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 1.0,
) -> np.ndarray:
    """E + (A / N^alpha + B / D^beta)^gamma in nats per token (Beck et al. 2025); gamma = 1 is `loss`."""
    return np.asarray(E, float) + np.exp(_log_reducible(N, D, A, B, alpha, beta, gamma))


def log_loss(
    N: ArrayLike,
    D: ArrayLike,
    E: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 1.0,
) -> np.ndarray:
    """ln of `generalised_loss`, summed in the log domain: finite wherever the terms' logarithms are.

    The form in which Hoffmann et al. 2022, eq. 3, fit; E = 0 is allowed.
    """
    with np.errstate(divide="ignore"):
        log_E = np.log(np.asarray(E, float))
    return np.logaddexp(log_E, _log_reducible(N, D, A, B, alpha, beta, gamma))


def _log_reducible(
    N: ArrayLike,
    D: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike,
) -> np.ndarray:
    with np.errstate(divide="ignore"):
        log_A, log_B = np.log(np.asarray(A, float)), np.log(np.asarray(B, float))
    n = log_A - np.asarray(alpha, float) * np.log(np.asarray(N, float))
    d = log_B - np.asarray(beta, float) * np.log(np.asarray(D, float))
    return np.asarray(gamma, float) * np.logaddexp(n, d)


def iso_loss_tokens(
    loss: ArrayLike,
    N: ArrayLike,
    E: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 1.0,
) -> np.ndarray:
    """Tokens D at which a model of N parameters reaches `loss`; NaN where no number of tokens does.

    The law solved for D:  D = (B / ((L - E)^(1/gamma) - A / N^alpha))^(1/beta).
    """
    excess = np.asarray(loss, float) - np.asarray(E, float)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inner = np.where(excess > 0, excess, np.nan) ** (1 / np.asarray(gamma, float)) - _power(A, N, alpha)
        log_ratio = np.log(np.asarray(B, float)) - np.log(np.where(inner > 0, inner, np.nan))
        return np.exp(log_ratio / np.asarray(beta, float))


def log_jacobian(
    N: ArrayLike, D: ArrayLike, E: ArrayLike, A: ArrayLike, B: ArrayLike, alpha: ArrayLike, beta: ArrayLike
) -> np.ndarray:
    """d ln L / d (ln E, ln A, ln B, alpha, beta), on a last axis of length 5."""
    n, d = _power(A, N, alpha), _power(B, D, beta)
    total = np.asarray(E, float) + n + d
    n, d = n / total, d / total
    log_N, log_D = np.log(np.asarray(N, float)), np.log(np.asarray(D, float))
    return np.stack(np.broadcast_arrays(np.asarray(E, float) / total, n, d, -n * log_N, -d * log_D), axis=-1)


def generalised_log_jacobian(
    N: ArrayLike,
    D: ArrayLike,
    E: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike,
) -> np.ndarray:
    """d ln L / d (ln E, ln A, ln B, alpha, beta, gamma), on a last axis of length 6."""
    n, d = _power(A, N, alpha), _power(B, D, beta)
    inner = n + d
    log_inner = np.log(inner)
    reducible = np.exp(np.asarray(gamma, float) * log_inner)
    total = np.asarray(E, float) + reducible
    share = reducible / total
    n, d = gamma * share * n / inner, gamma * share * d / inner
    log_N, log_D = np.log(np.asarray(N, float)), np.log(np.asarray(D, float))
    parts = (np.asarray(E, float) / total, n, d, -n * log_N, -d * log_D, share * log_inner)
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def starts(variables: Arrays, loss: np.ndarray, fixed: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Coefficients to start a fit from: E, A and B by least squares, on a grid of alpha and beta."""
    alpha, beta = mesh(exponent_grid(fixed.get("alpha")), exponent_grid(fixed.get("beta")))
    columns = [
        np.ones((1, 1)),
        _power(1.0, variables["N"], alpha[:, None]),
        _power(1.0, variables["D"], beta[:, None]),
    ]
    E, A, B = project(columns, loss, 1 / loss, [fixed.get(name) for name in ("E", "A", "B")])
    return {"E": E, "A": A, "B": B, "alpha": alpha, "beta": beta}


def generalised_starts(
    variables: Arrays, loss: np.ndarray, fixed: Mapping[str, float]
) -> dict[str, np.ndarray]:
    """The same with gamma and E on the grid too: given both, (L - E)^(1/gamma) is linear in A and B."""
    gamma, E, alpha, beta = mesh(
        np.array([fixed["gamma"]] if "gamma" in fixed else [0.2, 0.35, 0.6, 1.0]),
        np.array([fixed["E"]] if "E" in fixed else np.min(loss) * np.array([0.05, 0.3, 0.55, 0.75, 0.9])),
        exponent_grid(fixed.get("alpha"), 0.06, 1.6, 8),
        exponent_grid(fixed.get("beta"), 0.06, 1.6, 8),
    )
    columns = [_power(1.0, variables["N"], alpha[:, None]), _power(1.0, variables["D"], beta[:, None])]
    excess = np.maximum(loss - E[:, None], 1e-3 * loss)
    inner = excess ** (1 / gamma[:, None])
    # The residual wanted is that of ln L, and d ln L = gamma (L - E) / L d ln(inner).
    weight = gamma[:, None] * excess / loss / inner
    A, B = project(columns, inner, weight, [fixed.get("A"), fixed.get("B")])
    return {"E": E, "A": A, "B": B, "alpha": alpha, "beta": beta, "gamma": gamma}


# E is kept above e^-10: in the log domain a law whose true E is zero would drift without end.
COEFFICIENTS = (
    Coefficient(
        "E", 1.8172, float(np.exp(-10)), 1e3, True, "E", "nats/token", "Irreducible loss.", usual=(0.01, 3.0)
    ),
    Coefficient(
        "A", 482.01, 1e-8, 1e40, True, "A", "nats/token", "Scale of the parameter term.", usual=(1.0, 1e5)
    ),
    Coefficient(
        "B", 2085.43, 1e-8, 1e40, True, "B", "nats/token", "Scale of the token term.", usual=(1.0, 1e5)
    ),
    Coefficient(
        "alpha", 0.3478, 1e-3, 3.0, False, "α", "", "Exponent of the parameter term.", usual=(0.05, 1.0)
    ),
    Coefficient("beta", 0.3658, 1e-3, 3.0, False, "β", "", "Exponent of the token term.", usual=(0.05, 1.0)),
)

CHINCHILLA = Law(
    name="chinchilla",
    title="Chinchilla: L = E + A/N^α + B/D^β",
    variables=("N", "D"),
    coefficients=COEFFICIENTS,
    function=loss,
    source="Hoffmann et al. 2022, arXiv 2203.15556, eq. 2; defaults: Besiroglu et al. 2024, arXiv 2404.10102",
    validity="fitted on 44 M to 16 B parameters and 5e9 to 5e11 tokens",
    log_jacobian=log_jacobian,
    starts=starts,
)

GENERALISED = Law(
    name="generalised",
    title="Generalised Chinchilla: L = E + (A/N^α + B/D^β)^γ",
    variables=("N", "D"),
    coefficients=(
        Coefficient(
            "E", 1.011853, float(np.exp(-10)), 1e3, True, "E", "nats/token", "Irreducible loss.", (0.01, 3.0)
        ),
        Coefficient(
            "A",
            float(np.exp(11.987075)),
            1e-8,
            1e40,
            True,
            "A",
            "",
            "Scale of the parameter term.",
            (1.0, 5e8),
        ),
        Coefficient(
            "B", float(np.exp(13.354418)), 1e-8, 1e40, True, "B", "", "Scale of the token term.", (1.0, 5e10)
        ),
        Coefficient(
            "alpha", 0.527115, 1e-3, 3.0, False, "α", "", "Inner exponent of parameters.", (0.05, 1.0)
        ),
        Coefficient("beta", 0.508037, 1e-3, 3.0, False, "β", "", "Inner exponent of tokens.", (0.05, 1.0)),
        Coefficient("gamma", 0.293457, 0.02, 5.0, False, "γ", "", "Outer exponent.", (0.1, 1.5)),
    ),
    function=generalised_loss,
    source="Beck et al. 2025, arXiv 2510.02228; defaults: their Transformer fit",
    validity="fitted on 80 M to 7 B parameters and 2e9 to 2e12 tokens",
    log_jacobian=generalised_log_jacobian,
    starts=generalised_starts,
)
