"""How sure a plan is: its reach beyond the fit, its intervals, and what other laws say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.planning.answer import Interval, Opinion, Reach, Spread
from explorer.planning.candidate import Candidate
from explorer.planning.question import Question
from explorer.planning.terms import Terms


def reach(candidate: Candidate, N: float, D: float) -> tuple[Reach, ...]:
    """How far the run lies from those of the fit, in all that is known of them."""
    values = {"C": 6 * N * D, "N": N, "D": D, "D/N": D / N}
    return tuple(
        Reach(name, values[name], low, high, max(1.0, values[name] / high, low / values[name]))
        for name, (low, high) in candidate.ranges.items()
    )


def intervals(
    question: Question, candidate: Candidate, N: float, D: float, coverage: float
) -> tuple[dict[str, Interval | None], list[str]]:
    """Intervals by field of `Plan`, and sentences on members that have no answer."""
    if candidate.members is None:
        return {}, []
    trade = question.trade(candidate.members)
    found_N, found_D = question.answer(trade)
    known = np.isfinite(found_N) & np.isfinite(found_D)
    notes = []
    if not known.all():
        notes.append(
            f"{np.count_nonzero(~known)} of {known.size} resamples have no such run and are left out."
        )
    if not known.any():
        return {}, notes

    def middle(values: np.ndarray) -> Interval:
        tail = (1 - coverage) / 2
        low, high = np.quantile(values, [tail, 1 - tail])
        return float(low), float(high)

    # With one of the two held a budget settles the other; a loss does not.
    reaches = question.goal == "least compute"
    free = reaches or not question.held
    total = trade.total(found_N, found_D)
    return {
        "loss_interval": middle(trade.loss(N, D)),
        "N_interval": middle(found_N[known]) if free and question.N is None else None,
        "D_interval": middle(found_D[known]) if free and question.D is None else None,
        "flops_interval": middle(total[known]) if reaches else None,
    }, notes


def opinions(
    question: Question, candidates: Sequence[Candidate], N: float, D: float
) -> tuple[tuple[Opinion, ...], list[str]]:
    """What every law answers and what it says of the run (N, D); and sentences on laws that have no answer."""
    trade = question.trade(Terms.stack([one.terms for one in candidates]))
    own_N, own_D = question.answer(trade)
    loss, here = trade.loss(own_N, own_D), trade.loss(N, D)
    values = (own_N, own_D, own_D / own_N, loss, trade.total(own_N, own_D), here, here - loss)
    found, silent = [], []
    for k, one in enumerate(candidates):
        if np.isfinite(own_N[k]) and np.isfinite(own_D[k]):
            found.append(Opinion(one.name, one.title, one.source, *(float(value[k]) for value in values)))
        else:
            silent.append(f"The law {one.name!r} has no run that answers.")
    return tuple(found), silent


def spread(found: Sequence[Opinion]) -> Spread | None:
    """The least and the greatest of several opinions; None of a single one."""
    if len(found) < 2:
        return None

    def ends(field: str) -> Interval:
        values = [getattr(one, field) for one in found]
        return min(values), max(values)

    return Spread(*map(ends, ("N", "D", "loss", "flops", "penalty")))
