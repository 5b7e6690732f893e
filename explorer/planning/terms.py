"""Every law that the planner knows, in one form: E + (A / N'^alpha + B / D'^beta)^gamma.

N' and D' are N and D as long as data does not repeat; with a stock of U unique tokens they are those of
Muennighoff et al. 2023, arXiv 2305.16264. Everywhere here N is parameters, D training tokens, U unique tokens
(infinite where data never runs out), losses in nats per token; coefficients are numbers, or arrays (n,) with
one value a member of an ensemble, and everything broadcasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import BadInput
from explorer.laws import allocation, chinchilla, data_constrained, overtraining
from explorer.laws.published import DATA_CONSTRAINED

_REPEATS = DATA_CONSTRAINED["muennighoff-c4"].coefficients
FAMILY = ("chinchilla", "generalised", "data-constrained", "over-training", "kaplan")
"""The laws, by name, that have this form."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The coefficients of that form.

    Args:
        E, A, B, alpha, beta, gamma: as in `explorer.laws.chinchilla.generalised_loss`.
        R_D, R_N: how many repeats of data and excess parameters pay; `explorer.laws.data_constrained`.
    """

    E: ArrayLike
    A: ArrayLike
    B: ArrayLike
    alpha: ArrayLike
    beta: ArrayLike
    gamma: ArrayLike = 1.0
    R_D: ArrayLike = _REPEATS["R_D"]
    R_N: ArrayLike = _REPEATS["R_N"]

    def loss(self, N: ArrayLike, D: ArrayLike, U: ArrayLike = np.inf) -> np.ndarray:
        """Loss of a run on D tokens, drawn from U unique ones.

        The excess of parameters is judged by the stock U, not by the tokens used of it as in
        `data_constrained.loss`: the same where the stock is used up, and the plain law where it never is.
        """
        return chinchilla.generalised_loss(*self._effective(N, D, U), self.E, *self._shape)

    def log_reducible(self, N: ArrayLike, D: ArrayLike, U: ArrayLike = np.inf) -> np.ndarray:
        """ln of the loss above E: convex in ln N along a budget, and free of E's rounding."""
        return chinchilla.log_loss(*self._effective(N, D, U), 0.0, *self._shape)

    def tokens(self, loss: ArrayLike, N: ArrayLike, U: ArrayLike = np.inf) -> np.ndarray:
        """D at which N parameters reach `loss`; NaN where no number of tokens does."""
        U = np.asarray(U, float)
        parameters, _ = self._effective(N, 1.0, U)
        fresh = chinchilla.iso_loss_tokens(loss, parameters, self.E, *self._shape)
        R_D = np.asarray(self.R_D, float)
        with np.errstate(invalid="ignore", divide="ignore"):
            repeats = fresh / U - 1
            saturated = U * (1 - R_D * np.log1p(-repeats / R_D))
        return np.where(repeats <= 0, fresh, np.where(repeats < R_D, saturated, np.nan))

    def floor(self, U: ArrayLike = np.inf) -> np.ndarray:
        """The loss that no run on U unique tokens gets under, however large and long."""
        U = np.asarray(U, float)
        matched = self._matched(U)
        N = matched * (1 + np.asarray(self.R_N, float))
        D = U * (1 + np.asarray(self.R_D, float))
        endless = np.isinf(U)
        limit = chinchilla.generalised_loss(
            np.where(endless, 1.0, N), np.where(endless, 1.0, D), self.E, *self._shape
        )
        return np.where(endless, np.asarray(self.E, float), limit)

    def optimum(self, product: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(N, D) of least loss among those with N D = `product`, in closed form, without repetition."""
        N = allocation.optimal_parameters(product, self.A, self.B, self.alpha, self.beta, c=1.0)
        return N, np.asarray(product, float) / N

    def frontier(self, loss: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(N, D) of the least N D that reaches `loss`, in closed form, without repetition; NaN at or below E.

        There alpha A N^-alpha = beta B D^-beta, so the reducible loss splits as beta to alpha.
        """
        alpha, beta = np.asarray(self.alpha, float), np.asarray(self.beta, float)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            inner = np.log(np.asarray(loss, float) - self.E) / self.gamma
            N = np.exp((np.log(self.A) + np.log1p(alpha / beta) - inner) / alpha)
            D = np.exp((np.log(self.B) + np.log1p(beta / alpha) - inner) / beta)
        return N, D

    @classmethod
    def stack(cls, several: Sequence[Terms]) -> Terms:
        """Several laws as one: every coefficient an array (n,)."""
        return cls(*(np.array([getattr(one, each.name) for one in several], float) for each in fields(cls)))

    @property
    def _shape(self) -> tuple[ArrayLike, ...]:
        return self.A, self.B, self.alpha, self.beta, self.gamma

    def _matched(self, U: ArrayLike) -> np.ndarray:
        return data_constrained.matched_parameters(U, self.A, self.B, self.alpha, self.beta)

    def _effective(self, N: ArrayLike, D: ArrayLike, U: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        return (
            data_constrained.effective_parameters(N, self._matched(U), self.R_N),
            data_constrained.effective_tokens(D, U, self.R_D),
        )


def terms_of(law: str, coefficients: Mapping[str, Any]) -> Terms:
    """The coefficients of one of the laws in `FAMILY`, numbers or arrays (n,), in the common form.

    Kaplan's joint law, ((N_c / N)^(alpha_N / alpha_D) + D_c / D)^alpha_D, has E = 0, beta = 1, gamma = alpha_D.

    Raises:
        BadInput: the law has another form.
    """
    if law == "over-training":
        return Terms(**overtraining.chinchilla_coefficients(**coefficients))
    if law == "kaplan":
        gamma = np.asarray(coefficients["alpha_D"], float)
        alpha = np.asarray(coefficients["alpha_N"], float) / gamma
        A = np.exp(alpha * np.log(coefficients["N_c"]))
        return Terms(np.zeros_like(gamma), A, coefficients["D_c"], alpha, np.ones_like(gamma), gamma)
    if law not in FAMILY:
        raise BadInput(f"A run cannot be planned by the law {law!r}: give one of {', '.join(FAMILY)}.")
    return Terms(**coefficients)
