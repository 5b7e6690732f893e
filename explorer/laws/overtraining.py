"""Over-training: loss in compute C and tokens per parameter M, and the downstream error that follows from it.

Gadre et al. 2024, arXiv 2403.08540. C is training compute in FLOP with C = 6 N D, M = D / N, both above
zero; the loss is in nats per token. All arguments broadcast; results have the broadcast shape; nothing
is raised.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from explorer.laws.law import Arrays, Coefficient, Law
from explorer.laws.projection import exponent_grid, project


def loss(C: ArrayLike, M: ArrayLike, E: ArrayLike, a: ArrayLike, b: ArrayLike, eta: ArrayLike) -> np.ndarray:
    """E + (a M^eta + b M^-eta) C^-eta in nats per token: the exponent is the same for every M."""
    n, d = _terms(C, M, a, b, eta)
    return np.asarray(E, float) + n + d


def chinchilla_coefficients(
    E: ArrayLike, a: ArrayLike, b: ArrayLike, eta: ArrayLike
) -> dict[str, np.ndarray]:
    """The same law as E + A / N^alpha + B / D^beta: A = a 6^-eta, B = b 6^-eta, alpha = beta = 2 eta."""
    eta = np.asarray(eta, float)
    shrink = np.exp(-eta * np.log(6.0))
    return {
        "E": np.asarray(E, float),
        "A": np.asarray(a, float) * shrink,
        "B": np.asarray(b, float) * shrink,
        "alpha": 2 * eta,
        "beta": 2 * eta,
    }


def downstream_error(loss: ArrayLike, epsilon: ArrayLike, k: ArrayLike, gamma: ArrayLike) -> np.ndarray:
    """epsilon - k exp(-gamma L): top-1 error (0 to 1), averaged over tasks, of a model with loss L.

    epsilon is the error of a model that has learnt nothing; k and gamma (per nat) are fitted.
    """
    drop = np.asarray(k, float) * np.exp(-np.asarray(gamma, float) * np.asarray(loss, float))
    return np.asarray(epsilon, float) - drop


def log_jacobian(
    C: ArrayLike, M: ArrayLike, E: ArrayLike, a: ArrayLike, b: ArrayLike, eta: ArrayLike
) -> np.ndarray:
    """d ln L / d (ln E, ln a, ln b, eta), on a last axis of length 4."""
    n, d = _terms(C, M, a, b, eta)
    total = np.asarray(E, float) + n + d
    log_C, log_M = np.log(np.asarray(C, float)), np.log(np.asarray(M, float))
    slope = (n * (log_M - log_C) - d * (log_M + log_C)) / total
    return np.stack(np.broadcast_arrays(np.asarray(E, float) / total, n / total, d / total, slope), axis=-1)


def starts(variables: Arrays, loss: np.ndarray, fixed: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Coefficients to start a fit from: E, a and b by least squares, on a grid of eta."""
    eta = exponent_grid(fixed.get("eta"), 0.01, 1.0, 48)
    n, d = _terms(variables["C"], variables["M"], 1.0, 1.0, eta[:, None])
    known = [fixed.get(name) for name in ("E", "a", "b")]
    E, a, b = project([np.ones((1, 1)), n, d], loss, 1 / loss, known)
    return {"E": E, "a": a, "b": b, "eta": eta}


def _terms(
    C: ArrayLike, M: ArrayLike, a: ArrayLike, b: ArrayLike, eta: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    log_C, log_M = np.log(np.asarray(C, float)), np.log(np.asarray(M, float))
    eta = np.asarray(eta, float)
    n = np.asarray(a, float) * np.exp(eta * (log_M - log_C))
    d = np.asarray(b, float) * np.exp(-eta * (log_M + log_C))
    return n, d


OVERTRAINING = Law(
    name="over-training",
    title="Over-training: L = E + (a M^η + b M^-η) C^-η",
    variables=("C", "M"),
    coefficients=(
        Coefficient(
            "E", 1.51, float(np.exp(-10)), 1e3, True, "E", "nats/token", "Irreducible loss.", (0.01, 3.0)
        ),
        Coefficient("a", 141.0, 1e-8, 1e40, True, "a", "", "Scale of the parameter term.", (1.0, 1e4)),
        Coefficient("b", 190.0, 1e-8, 1e40, True, "b", "", "Scale of the token term.", (1.0, 1e4)),
        Coefficient("eta", 0.121, 1e-3, 1.5, False, "η", "", "Exponent of compute.", (0.02, 0.5)),
    ),
    function=loss,
    source="Gadre et al. 2024, arXiv 2403.08540; defaults: C4",
    validity="fitted on 11 M to 6.9 B parameters and 5 to 640 tokens per parameter",
    log_jacobian=log_jacobian,
    starts=starts,
)
