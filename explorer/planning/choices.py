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
    wasted = waste(trade, loss, flops)
    wasted[0] = 0.0
    return tuple(
        Choice(name, *(float(each[k]) for each in (sizes, D, D / sizes, loss, excess, flops, wasted)))
        for k, name in enumerate(named)
        if D[k] >= 1 and not math.isclose(sizes[k], plan_N, rel_tol=1e-6)
    )


def waste(trade: Trade, loss: ArrayLike, flops: ArrayLike) -> np.ndarray:
    """FLOPs above the fewest that reach the same loss, as a share of those."""
    N = trade.cheapest_to(loss)
    return np.maximum(flops / trade.total(N, trade.tokens_to(loss, N)) - 1, 0.0)


def round_sizes(N: float) -> tuple[float, float]:
    """The round numbers on either side of N, 10 to 20 % apart: 70B and 80B, 30B and 35B, 1.2B and 1.4B."""
    decade = 10.0 ** math.floor(math.log10(N))
    lead = N / decade
    step = 0.2 if lead < 2 else 0.5 if lead < 5 else 1.0
    count = math.floor(lead / step + 1e-9)
    return float(f"{count * step * decade:.3g}"), float(f"{(count + 1) * step * decade:.3g}")
