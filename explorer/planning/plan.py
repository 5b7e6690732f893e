"""A budget in, the best run out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.planning.account import ACCOUNTS, find_account
from explorer.planning.answer import Plan
from explorer.planning.budget import Budget, Machine, amount, flops_budget
from explorer.planning.candidate import COMPARED, Candidate, published
from explorer.planning.choices import choices, waste
from explorer.planning.doubt import intervals, opinions, reach, spread
from explorer.planning.notes import notes_on
from explorer.planning.question import LeastCompute, LeastLoss, Question
from explorer.planning.refusal import refuse


@np.errstate(all="ignore")  # a run that cannot be is NaN, and told or left out below
def plan(
    budget: Budget | float | str | None = None,
    *,
    loss: Any = None,
    laws: Candidate | str | Sequence[Candidate | str] = COMPARED,
    parameters: Any = None,
    tokens: Any = None,
    tokens_available: Any = None,
    inference_tokens: Any = 0,
    account: str = ACCOUNTS[0],
    machine: Machine | None = None,
    coverage: float = 0.9,
) -> Plan:
    """The best run for a budget, or the cheapest one that reaches a loss.

    Closed form where one exists (FLOPs counted as 6ND, nothing served, data enough), else a search along ln N. Numbers
    may be text such as 70B or 1.4T.

    Args:
        budget: what may be spent, on training and serving together; a number or text is FLOPs.
        loss: in nats per token, to be reached at the least compute, instead of a budget.
        laws: what predicts, by name or as a `Candidate`; the first one answers, the others are compared with it.
        parameters: N, if it is fixed.
        tokens: D, if it is fixed.
        tokens_available: unique tokens; training on more repeats them, which is worth less (Muennighoff et al. 2023).
        inference_tokens: that the model serves in its life, at 2N FLOPs each (Sardana and Frankle 2024).
        account: one of `explorer.planning.ACCOUNTS`.
        machine: for device-hours and cost, where the budget does not bring one.
        coverage: of the intervals, which need a fitted law with its ensemble.

    Raises:
        BadInput: no budget or two questions at once, a number that is not above zero, an unknown name, a budget below
            the smallest run that the law rests on, or a loss that no run reaches.
    """
    if not 0 < coverage < 1:
        raise BadInput(f"coverage is {coverage}: give a share between 0 and 1, e.g. 0.9.")
    if budget is not None and not isinstance(budget, Budget):
        budget = flops_budget(budget, machine)
    if budget is not None and budget.machine is not None:
        machine = budget.machine

    def given(value: Any, what: str) -> float | None:
        return None if value is None else amount(value, what)

    stock = given(tokens_available, "The number of tokens available")
    shared: dict[str, Any] = {
        "N": given(parameters, "The number of parameters"),
        "D": given(tokens, "The number of training tokens"),
        "served": amount(inference_tokens, "The number of tokens to serve", zero=True),
        "stock": math.inf if stock is None else stock,
        "account": find_account(account),
    }
    if shared["N"] is not None and shared["D"] is not None:
        raise BadInput("Both the parameters and the tokens were fixed: fix one, the other follows from it.")
    reached = given(loss, "The loss to reach")
    question: Question
    if budget is not None and reached is not None:
        raise BadInput(
            f"A budget ({budget.text}) and a loss to reach ({reached:g}) were given: give one of them."
        )
    if budget is not None:
        question = LeastLoss(budget=budget, **shared)
    elif reached is not None:
        question = LeastCompute(loss=reached, **shared)
    else:
        raise BadInput(
            "No budget was given: give FLOPs, device-hours with a device, or money with a price per device-hour; "
            "or a loss to reach."
        )
    candidates = _candidates(laws)
    first = candidates[0]
    trade = question.trade(first.terms)
    N, D = (float(one) for one in question.answer(trade))
    refuse(question, first, trade, N, D)
    best_N, best_D = question.best(trade) if question.held else (N, D)
    best = float(best_N), float(best_D)
    predicted, flops = float(trade.loss(N, D)), float(trade.total(N, D))
    distance = reach(first, N, D)
    ends, missing = intervals(question, first, N, D, coverage)
    found, silent = opinions(question, candidates, N, D)
    return Plan(
        question=question.words,
        goal=question.goal,
        law=first.name,
        title=first.title,
        source=first.source,
        account=question.account,
        N=N,
        D=D,
        tokens_per_parameter=D / N,
        loss=predicted,
        training_flops=float(trade.training(N, D)),
        serving_flops=float(trade.serving(N)),
        flops=flops,
        epochs=None if stock is None else D / stock,
        coverage=coverage,
        **ends,
        loss_penalty=max(0.0, predicted - float(trade.loss(*best))),
        waste=waste(trade, predicted, flops)[0] if question.held else 0.0,
        device=machine.device.name if machine else None,
        utilisation=machine.utilisation if machine else None,
        device_hours=machine.hours(flops) if machine else None,
        cost=machine.cost(flops) if machine else None,
        reach=distance,
        choices=choices(question, trade, best, N),
        opinions=found,
        spread=spread(found),
        notes=(*notes_on(question, candidates, distance, D, machine), *missing, *silent),
    )


def _candidates(laws: Candidate | str | Sequence[Candidate | str]) -> tuple[Candidate, ...]:
    several = (laws,) if isinstance(laws, Candidate | str) else tuple(laws)
    if not several:
        raise BadInput("No law was given: name at least one, e.g. besiroglu.")
    found = tuple(one if isinstance(one, Candidate) else published(one) for one in several)
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"The law {twice!r} was given twice: give each law once, or name two fits apart.")
    return found
