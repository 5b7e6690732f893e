"""Rounder and other runs that answer the same question, and what each costs against the best."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.numbers import write_number
from explorer.planning.answer import Choice
from explorer.planning.question import Question
from explorer.planning.trade import Trade

RULE = 20.0
"""Tokens per parameter of the rule of thumb that many draw from Hoffmann et al. 2022."""


def choices(question: Question, trade: Trade, best: tuple[float, float], plan_N: float) -> tuple[Choice, ...]:
    """The best run, round N on either side of it, `RULE` tokens a parameter, half and twice N; none twice.

    Args:
        best: (N, D) with neither held.
        plan_N: N of the plan, which is left out here.
    """
    N, _ = best
    named = {"best": N}
    named |= {f"N = {write_number(size, 3)}": size for size in round_sizes(N)}
    named[f"{RULE:g} tokens per parameter"] = float(question.at_ratio(trade, RULE))
    named |= {"half the best N": N / 2, "twice the best N": N * 2}
    sizes = np.array(list(named.values()))
    D = question.tokens(trade, sizes)
    loss, flops = trade.loss(sizes, D), trade.total(sizes, D)
    excess = np.maximum(loss - trade.loss(*best), 0.0)
    wasted = [0.0, *waste(trade, loss, flops)[1:]]
    return tuple(
        Choice(
            name=name,
            N=float(sizes[k]),
            D=float(D[k]),
            tokens_per_parameter=float(D[k] / sizes[k]),
            loss=float(loss[k]),
            loss_penalty=float(excess[k]),
            flops=float(flops[k]),
            waste=wasted[k],
        )
        for k, name in enumerate(named)
        if D[k] >= 1 and not math.isclose(sizes[k], plan_N, rel_tol=1e-6)
    )


def waste(trade: Trade, loss: ArrayLike, flops: ArrayLike) -> list[float | None]:
    """FLOPs above the fewest that reach the same loss, as a share of those, one a run.

    None at a loss that more compute no longer lowers: the data is used up.
    """
    N = trade.cheapest_to(np.atleast_1d(loss))
    share = np.atleast_1d(flops) / trade.total(N, trade.tokens_to(loss, N)) - 1
    return [max(0.0, float(one)) if np.isfinite(one) else None for one in share]


def round_sizes(N: float) -> tuple[float, float]:
    """The round numbers on either side of N, 10 to 20 % apart: 70B and 80B, 30B and 35B, 1.2B and 1.4B."""
    decade = 10.0 ** math.floor(math.log10(N))
    lead = N / decade
    step = 0.2 if lead < 2 else 0.5 if lead < 5 else 1.0
    count = math.floor(lead / step + 1e-9)
    return float(f"{count * step * decade:.3g}"), float(f"{(count + 1) * step * decade:.3g}")
