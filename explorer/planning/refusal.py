"""Why a question has no answer that could be meant, in one sentence."""

from __future__ import annotations

import math

from explorer.errors import BadInput
from explorer.numbers import write_number
from explorer.planning.candidate import Candidate
from explorer.planning.question import LeastCompute, LeastLoss, Question
from explorer.planning.trade import Trade


def refuse(question: Question, candidate: Candidate, trade: Trade, N: float, D: float) -> None:
    """Nothing, if (N, D) is an answer.

    Raises:
        BadInput: there is none, or it is smaller than the smallest run that the law rests on.
    """
    law = f"the law {candidate.name!r}"
    if isinstance(question, LeastCompute):
        floor = float(trade.terms.floor(question.stock))
        if not question.loss > floor:
            stock = " on the tokens available" if math.isfinite(question.stock) else ""
            raise BadInput(
                f"No run reaches a loss of {question.loss:g} by {law}, which never falls below "
                f"{write_number(floor, 5)}{stock}: give a higher loss."
            )
    if not (math.isfinite(N) and math.isfinite(D)):
        raise BadInput(_unanswered(question, trade, law))
    if "C" in candidate.ranges:
        asked, least = 6 * N * D, candidate.ranges["C"][0]
        if asked < least:
            raise BadInput(
                f"{question.subject} asks for less training than the smallest run that {law} rests on "
                f"({write_number(least)} FLOPs): ask for more, or give a law fitted to smaller runs."
            )
    if N < 1 or D < 1:
        raise BadInput(f"{question.subject} asks for less than one parameter or one token: ask for more.")


def _unanswered(question: Question, trade: Trade, law: str) -> str:
    if isinstance(question, LeastLoss) and question.N is not None:
        return (
            f"Serving {write_number(question.served)} tokens with {write_number(question.N)} parameters takes "
            f"{write_number(float(trade.serving(question.N)))} FLOPs and leaves none of {question.budget.text} for "
            "training: give a larger budget or fewer parameters."
        )
    if isinstance(question, LeastCompute) and question.N is not None:
        return (
            f"A model of {write_number(question.N)} parameters does not reach a loss of {question.loss:g} on any "
            f"number of tokens by {law}: give a higher loss or more parameters."
        )
    if isinstance(question, LeastCompute) and question.D is not None:
        return (
            f"No model reaches a loss of {question.loss:g} on {write_number(question.D)} tokens by {law}: "
            "give a higher loss or more tokens."
        )
    return f"{question.subject} has no best run by {law}: give other numbers or another law."
