"""What is asked: the least loss for a budget, or the least compute for a loss; with N or D held if wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from explorer.numbers import write_number
from explorer.planning.account import ACCOUNTS
from explorer.planning.answer import Goal
from explorer.planning.budget import Budget
from explorer.planning.terms import Terms
from explorer.planning.trade import Trade

Run = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """What both questions share. Answers are NaN where a law has none.

    Args:
        N: parameters, if held.
        D: training tokens, if held; not both.
        served: tokens that the model serves in its life; their cost counts.
        stock: unique tokens to train on.
        account: how FLOPs are counted.
    """

    N: float | None = None
    D: float | None = None
    served: float = 0.0
    stock: float = np.inf
    account: str = ACCOUNTS[0]
    goal: ClassVar[Goal]

    @property
    @abstractmethod
    def subject(self) -> str:
        """What was given, to begin a sentence with."""

    @abstractmethod
    def phrase(self, spent: str) -> str:
        """The question in words; `spent` says on what the compute goes."""

    @abstractmethod
    def best(self, trade: Trade) -> Run:
        """(N, D) with neither held."""

    @abstractmethod
    def tokens(self, trade: Trade, N: ArrayLike) -> np.ndarray:
        """D that answers for given N."""

    @abstractmethod
    def parameters(self, trade: Trade, D: ArrayLike) -> np.ndarray:
        """N that answers for given D."""

    @abstractmethod
    def at_ratio(self, trade: Trade, ratio: float) -> np.ndarray:
        """N that answers with D = ratio N."""

    @property
    def held(self) -> bool:
        """Whether N or D is."""
        return self.N is not None or self.D is not None

    @property
    def words(self) -> str:
        """The question in words."""
        spent = "training"
        if self.served:
            spent = f"training and serving {write_number(self.served)} tokens together"
        asked = self.phrase(spent)
        if self.N is not None:
            asked += f", with {write_number(self.N)} parameters"
        if self.D is not None:
            asked += f", on {write_number(self.D)} tokens"
        if np.isfinite(self.stock):
            asked += f", from {write_number(self.stock)} unique tokens"
        return asked

    def trade(self, terms: Terms) -> Trade:
        """What a law makes of it."""
        return Trade(terms, self.account, self.served, self.stock)

    def answer(self, trade: Trade) -> Run:
        """(N, D) with what is held, one a law of the trade."""
        if self.N is not None:
            N, D = np.asarray(self.N), self.tokens(trade, self.N)
        elif self.D is not None:
            N, D = self.parameters(trade, self.D), np.asarray(self.D)
        else:
            N, D = self.best(trade)
        N, D, _ = np.broadcast_arrays(N, D, trade.terms.E)
        return N, D


@dataclass(frozen=True, kw_only=True)
class LeastLoss(Question):
    """The run of least loss for `budget`."""

    budget: Budget
    goal: ClassVar[Goal] = "least loss"

    @property
    def subject(self) -> str:
        serving = f", with {write_number(self.served)} tokens to serve," if self.served else ""
        return f"The budget of {self.budget.text}{serving}"

    def phrase(self, spent: str) -> str:
        text, flops = self.budget.text, f"{write_number(self.budget.flops)} FLOPs"
        return f"Least loss for {text if text == flops else f'{text} ({flops})'} of {spent}"

    def best(self, trade: Trade) -> Run:
        N = trade.best_within(self.budget.flops)
        return N, self.tokens(trade, N)

    def tokens(self, trade: Trade, N: ArrayLike) -> np.ndarray:
        return trade.tokens_within(self.budget.flops, N)

    def parameters(self, trade: Trade, D: ArrayLike) -> np.ndarray:
        return trade.parameters_within(self.budget.flops, D)

    def at_ratio(self, trade: Trade, ratio: float) -> np.ndarray:
        return trade.at_ratio_within(self.budget.flops, ratio)


@dataclass(frozen=True, kw_only=True)
class LeastCompute(Question):
    """The cheapest run that reaches `loss`, in nats per token."""

    loss: float
    goal: ClassVar[Goal] = "least compute"

    @property
    def subject(self) -> str:
        return f"A loss of {self.loss:g}"

    def phrase(self, spent: str) -> str:
        return f"Least compute of {spent} that reaches a loss of {self.loss:g} nats per token"

    def best(self, trade: Trade) -> Run:
        N = trade.cheapest_to(self.loss)
        return N, self.tokens(trade, N)

    def tokens(self, trade: Trade, N: ArrayLike) -> np.ndarray:
        return trade.tokens_to(self.loss, N)

    def parameters(self, trade: Trade, D: ArrayLike) -> np.ndarray:
        return trade.parameters_to(self.loss, D)

    def at_ratio(self, trade: Trade, ratio: float) -> np.ndarray:
        return trade.at_ratio_to(self.loss, ratio)
