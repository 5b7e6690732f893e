"""What a plan says; plain frozen records that msgspec writes as JSON."""

from __future__ import annotations

from typing import Literal

import msgspec

Interval = tuple[float, float]
Goal = Literal["least loss", "least compute"]


class Choice(msgspec.Struct, frozen=True):
    """Another run that answers the same question, less well.

    Args:
        name: which one, e.g. "N = 70B".
        N: parameters.
        D: training tokens.
        tokens_per_parameter: D / N.
        loss: predicted, in nats per token.
        loss_penalty: loss above that of the best run.
        flops: of training and serving.
        waste: FLOPs above the fewest that reach its loss, as a share of those: 0.05 is 5 % too many; None where more
            compute no longer lowers the loss.
    """

    name: str
    N: float
    D: float
    tokens_per_parameter: float
    loss: float
    loss_penalty: float
    flops: float
    waste: float | None


class Reach(msgspec.Struct, frozen=True):
    """How far a plan lies from the runs that its law was fitted to.

    Args:
        name: "C" (6ND, however FLOPs are counted), "N", "D" or "D/N".
        value: the plan's.
        low, high: the least and the greatest of the fit; where those of C are not known, the smallest model on the
            fewest tokens and the largest on the most.
        ratio: value over `high` if above it, `low` over value if below, else 1.
    """

    name: str
    value: float
    low: float
    high: float
    ratio: float


class Opinion(msgspec.Struct, frozen=True):
    """What one of several laws answers to the same question.

    Args:
        name, title, source: of the law.
        N, D, tokens_per_parameter, loss, flops: of the best run by this law.
        loss_of_plan: what this law predicts for the run of the plan.
        penalty: `loss_of_plan` above `loss`: what following the plan costs if this law is the true one.
    """

    name: str
    title: str
    source: str
    N: float
    D: float
    tokens_per_parameter: float
    loss: float
    flops: float
    loss_of_plan: float
    penalty: float


class Spread(msgspec.Struct, frozen=True):
    """The least and the greatest answer among several laws."""

    N: Interval
    D: Interval
    loss: Interval
    flops: Interval
    penalty: Interval


class Plan(msgspec.Struct, frozen=True):
    """The best run, and how sure that is.

    Args:
        question: what is answered, in words.
        goal: which of the two questions it is.
        law, title, source: the law that answers.
        account: how FLOPs are counted.
        N: parameters.
        D: training tokens.
        tokens_per_parameter: D / N.
        loss: predicted, in nats per token.
        training_flops, serving_flops, flops: FLOPs of training, of serving over the model's life, of both.
        epochs: D over the unique tokens available; None if their number was not given.
        coverage: of every interval here.
        loss_interval: of the loss at (N, D); None without an ensemble, as are the others.
        N_interval, D_interval, flops_interval: of the answers that the members of the ensemble give.
        loss_penalty, waste: as in `Choice`; zero unless N or D was held.
        device, utilisation: on what it runs; None if no device was named.
        device_hours: for `flops`.
        cost: of these hours; None without a price.
        reach: distance from the runs of the fit, as far as its ranges are known.
        choices: rounder and other choices for the same question.
        opinions: of every law that was asked, this one first.
        spread: over the opinions; None if only one law was asked.
        notes: sentences on what a reader should know.
    """

    question: str
    goal: Goal
    law: str
    title: str
    source: str
    account: str
    N: float
    D: float
    tokens_per_parameter: float
    loss: float
    training_flops: float
    serving_flops: float
    flops: float
    epochs: float | None = None
    coverage: float = 0.9
    loss_interval: Interval | None = None
    N_interval: Interval | None = None
    D_interval: Interval | None = None
    flops_interval: Interval | None = None
    loss_penalty: float = 0.0
    waste: float | None = 0.0
    device: str | None = None
    utilisation: float | None = None
    device_hours: float | None = None
    cost: float | None = None
    reach: tuple[Reach, ...] = ()
    choices: tuple[Choice, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    spread: Spread | None = None
    notes: tuple[str, ...] = ()
