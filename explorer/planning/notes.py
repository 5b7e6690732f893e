"""What a reader should know of a plan, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.numbers import write_number
from explorer.planning.answer import Reach
from explorer.planning.budget import Machine
from explorer.planning.candidate import Candidate
from explorer.planning.question import Question


def notes_on(
    question: Question,
    candidates: Sequence[Candidate],
    reach: Sequence[Reach],
    D: float,
    machine: Machine | None,
) -> list[str]:
    """Sentences on the law, which is the first one, its reach, repetition, serving, the device, and other laws."""
    candidate, *others = candidates
    notes = list(candidate.notes)
    beyond = [
        f"{one.name} by {write_number(one.ratio, 3)} times "
        f"({write_number(one.low, 3)} to {write_number(one.high, 3)})"
        for one in reach
        if one.ratio > 1
    ]
    if beyond:
        notes.append(f"This extrapolates beyond the runs of the fit: {', '.join(beyond)}.")
    elif not reach:
        notes.append("How far this extrapolates is not known: the ranges of the fit are not at hand.")
    if candidate.members is None:
        notes.append(
            "No interval: the law is known by its coefficients alone, without resamples of its runs."
        )
    else:
        notes.append("The intervals cover the scatter of the fit, not whether its form holds this far out.")
    if math.isfinite(question.stock):
        passes = D / question.stock
        if passes <= 1:
            notes.append("The tokens available suffice: nothing is repeated.")
        else:
            notes.append(
                f"Training passes over the data {write_number(passes, 3)} times; repeats are worth less."
            )
            floor = float(candidate.terms.floor(question.stock))
            notes.append(
                f"However much is spent on these tokens, the loss stays above {write_number(floor, 5)}."
            )
            if not candidate.own_repeats:
                notes.append(
                    "What repeats are worth is borrowed from Muennighoff et al. 2023 (C4), whose two constants of it "
                    "trade off against each other."
                )
    if question.served:
        notes.append("A served token counts as a forward pass, a third of a training token (2N in 6ND).")
        if machine is not None:
            notes.append(
                "Device-hours count serving at the utilisation of training; serving often reaches less."
            )
    if machine is not None:
        notes.append(
            f"{machine.device.name}: at most {machine.device.peak / 1e12:g} TFLOP/s in dense bf16 "
            f"({machine.device.source}), of which a share of {machine.utilisation:.3g} is counted on."
        )
    if others and all(one.own_runs for one in candidates):
        notes.extend(f"The law {one.name!r} is {one.source}." for one in candidates)
    elif others:
        notes.append(
            "Laws from other texts and tokenisers differ in the level of the loss: compare their N and D, and what "
            "each loses by following this plan."
        )
    return notes
