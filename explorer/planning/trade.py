"""The trade between parameters and tokens: what a run costs, what it gives, and where the best one lies.

A run of N parameters on D tokens costs its training, and T times the price of a served token if the model serves T
tokens in its life (Sardana and Frankle 2024, arXiv 2401.00448). Along a budget ln(L - E) is convex in ln N, and so is
the logarithm of the cost along a line of equal loss: where no closed form exists, one search finds the only
minimum. All arguments broadcast; NaN is where there is no such run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.planning.account import ACCOUNTS, serving_flops_per_token, training_flops_per_token
from explorer.planning.search import crossing, lowest
from explorer.planning.terms import Terms

_WIDTH = 160.0  # of a bracket in ln N: wider than any answer that could be meant


@dataclass(frozen=True)
class Trade:
    """What is traded.

    Args:
        terms: the law.
        account: how FLOPs are counted, one of `ACCOUNTS`.
        served: tokens T that the model serves in its life.
        stock: unique tokens U to train on; more are repeats.
    """

    terms: Terms
    account: str = ACCOUNTS[0]
    served: float = 0.0
    stock: float = np.inf

    def training(self, N: ArrayLike, D: ArrayLike) -> np.ndarray:
        """FLOPs of training."""
        return training_flops_per_token(N, self.account) * np.asarray(D, float)

    def serving(self, N: ArrayLike) -> np.ndarray:
        """FLOPs of serving, over the model's life."""
        return serving_flops_per_token(N, self.account) * self.served

    def total(self, N: ArrayLike, D: ArrayLike) -> np.ndarray:
        """FLOPs of both."""
        return self.training(N, D) + self.serving(N)

    def loss(self, N: ArrayLike, D: ArrayLike) -> np.ndarray:
        """Predicted loss."""
        return self.terms.loss(N, D, self.stock)

    def tokens_within(self, budget: ArrayLike, N: ArrayLike) -> np.ndarray:
        """D that N parameters can be trained on for what serving leaves of `budget`; NaN if it leaves nothing."""
        left = np.asarray(budget, float) - self.serving(N)
        return np.where(left > 0, left, np.nan) / training_flops_per_token(N, self.account)

    def tokens_to(self, loss: ArrayLike, N: ArrayLike) -> np.ndarray:
        """D at which N parameters reach `loss`."""
        return self.terms.tokens(loss, N, self.stock)

    def parameters_within(self, budget: ArrayLike, D: ArrayLike) -> np.ndarray:
        """N that can be trained on D tokens, and serve, for `budget`."""
        return self._crossing(lambda N: np.log(self.total(N, D)) - np.log(budget), budget, D)

    def parameters_to(self, loss: ArrayLike, D: ArrayLike) -> np.ndarray:
        """N that reaches `loss` on D tokens."""
        return self._crossing(lambda N: self.loss(N, D) - loss, loss, D)

    def at_ratio_within(self, budget: ArrayLike, ratio: ArrayLike) -> np.ndarray:
        """N that `budget` trains on `ratio` tokens a parameter."""
        return self._crossing(lambda N: np.log(self.total(N, ratio * N)) - np.log(budget), budget, ratio)

    def at_ratio_to(self, loss: ArrayLike, ratio: ArrayLike) -> np.ndarray:
        """N that reaches `loss` on `ratio` tokens a parameter."""
        return self._crossing(lambda N: self.loss(N, ratio * N) - loss, loss, ratio)

    def best_within(self, budget: ArrayLike) -> np.ndarray:
        """N of least loss for `budget`."""
        budget = np.asarray(budget, float)
        plain, tokens = self.terms.optimum(budget / 6)
        if self._plain:
            # Where the stock suffices at the plain optimum it is the optimum: repeats only ever add loss.
            suffices = tokens <= self.stock
            if suffices.all():
                return plain
        high = np.log(budget / 6) + _WIDTH / 4  # there less than one token is left
        if self.served:
            high = np.minimum(high, np.log(budget / (2 * self.served)))
        low = high - _WIDTH

        def reducible(log_N: np.ndarray) -> np.ndarray:
            N = np.exp(log_N)
            return self.terms.log_reducible(N, self.tokens_within(budget, N), self.stock)

        shape = np.broadcast_shapes(plain.shape, high.shape)
        found = np.exp(lowest(reducible, np.broadcast_to(low, shape), np.broadcast_to(high, shape)))
        return np.where(suffices, plain, found) if self._plain else found

    def cheapest_to(self, loss: ArrayLike) -> np.ndarray:
        """N that reaches `loss` for the fewest FLOPs."""
        plain, tokens = self.terms.frontier(loss)
        if self._plain:
            suffices = ~(tokens > self.stock)
            if suffices.all():
                return plain
        reachable = np.asarray(loss, float) > self.terms.floor(self.stock)
        # Below the plain model's ln N nothing changes; above, saturated parameters may call for far more of them.
        centre = np.clip(np.log(np.where(reachable & np.isfinite(plain), plain, 1.0)), -_WIDTH, 2 * _WIDTH)

        def cost(log_N: np.ndarray) -> np.ndarray:
            N = np.exp(log_N)
            return np.log(self.total(N, self.tokens_to(loss, N)))

        found = np.exp(lowest(cost, centre - _WIDTH / 4, centre + _WIDTH / 4))
        found = np.where(reachable, found, np.nan)
        return np.where(suffices, plain, found) if self._plain else found

    @property
    def _plain(self) -> bool:
        return self.account == ACCOUNTS[0] and not self.served

    def _crossing(self, gap, *like: ArrayLike) -> np.ndarray:  # type: ignore[no-untyped-def]
        shape = np.broadcast_shapes(*(np.shape(one) for one in (*like, self.terms.A)))
        low, high = np.full(shape, -_WIDTH / 2), np.full(shape, _WIDTH / 2)
        return np.exp(crossing(lambda log_N: gap(np.exp(log_N)), low, high))
