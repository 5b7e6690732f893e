"""One model a gamma, at a high rate and at a tenth of it: what each theory says of the order is sealed before.

1. Read the corpus; name every curve.
2. Train AdamW (gamma = 0), and probe what its gradients do between two iterates.
3. Seal the order of the other gammas: by similarity alone, and by similarity below the stability edge.
4. Train every gamma above 0, seed by seed on AdamW's initial values and minibatches.
5. Compare each with AdamW.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from explorer.errors import BadInput
from explorer.exhibits.mars_gamma.account import LEVELS, Account, sealed_edges, sealed_orders
from explorer.exhibits.mars_gamma.chains import chains
from explorer.records import Progress, Record
from explorer.training import windows
from explorer.training.corpus import load_corpus
from explorer.training.corrections import (
    Member,
    Probe,
    Recipe,
    train_corrections,
)
from explorer.training.decoder import Decoder
from explorer.training.ladder import peak_rate
from explorer.training.place import usable_device

__all__ = ["chains", "run"]

LOW_SHARE = 0.1
WARM_UP_SHARE = 1 / 8
PROBED_SHARES = (1 / 8, 3 / 4)  # of the steps: from the end of the warm-up until the rate has come down
FIRST_CHECK = 1 / 16  # of the steps: the first loss comes soon


def run(
    *,
    gammas: Sequence[float] = (0.0, 0.025, 0.1, 0.5, 1.0),
    approximate: float | None = 0.025,
    learning_rate: float = 1e-2,
    width: int = 32,
    batch: int = 8,
    steps: int = 240,
    seeds: int = 3,
    first_seed: int = 10,
    corpus: str = "prose",
    b1: float = 0.95,
    b2: float = 0.99,
    weight_decay: float = 0.01,
    checkpoints: int = 7,
    evaluated: int = 128,
    probes: int = 5,
    minibatches: int = 12,
    curved: int = 24,
    iterations: int = 5,
    together: int = 12,
    device: str = "cpu",
) -> Iterator[Record]:
    """Trains small character decoders with MARS-AdamW, one a gamma, rate and seed.

    Args:
        gammas: how much of the correction to keep; 0 (AdamW), 1 (MVR) and at least one in between.
        approximate: a gamma that is also trained in the one-gradient form, at the high rate; None for none.
        learning_rate: peak of the high rate at width 32; other widths take it times sqrt(32 / width). The low rate is a
            tenth. Linear warm-up over an eighth of the steps, then a cosine down to 10 %.
        width: of the decoder (2 layers, 64 characters of context).
        batch: windows a step.
        steps: training steps.
        seeds: how many models of each condition, with seeds first_seed, first_seed + 1, ...
        first_seed: the first seed.
        corpus: "prose", "code", or a path to a text file or a folder of text files.
        b1, b2, weight_decay: of MARS-AdamW.
        checkpoints: measurements of the held-out loss, the last at the end.
        evaluated: held-out windows a measurement.
        probes: how often a run is probed, evenly from the end of the warm-up to three quarters of the steps.
        minibatches: behind the probe's moments.
        curved: windows of the loss whose curvature the probe takes.
        iterations: of the probe's Lanczos iteration.
        together: models stacked at most.
        device: where to train.

    Yields:
        Series and Points of held-out losses (x = training characters or FLOPs), the probe's numbers, differences from
        AdamW and ranks (x = gamma, 0 drawn at 0.001); Progress; the Prediction "edges" before anything is trained, and
        "orders" before the first step with gamma above 0.

    Raises:
        BadInput: an argument that makes no sense, or a text shorter than one window.
        Diverged: a model's loss left all bounds.
    """
    gammas = sorted({float(gamma) for gamma in gammas})
    _check(gammas, approximate, learning_rate, steps, seeds, first_seed, batch, b1, b2, checkpoints)
    _check_probe(evaluated, probes, minibatches, curved, iterations, together)

    # 1. The corpus and the names of all curves.
    yield Progress(0.0, note="reading the corpus")
    place = usable_device(device)
    text = load_corpus(corpus)
    shown = windows.cut(text.training, Decoder.context, Decoder.predicted, place)
    held_out = windows.evenly(
        windows.cut(text.held_out, Decoder.context, Decoder.predicted, place), evaluated
    )
    recipe = Recipe(
        width,
        text.vocabulary,
        batch,
        steps,
        max(1, round(WARM_UP_SHARE * steps)),
        b1,
        b2,
        weight_decay,
        together,
        place,
    )
    peak = peak_rate(width, learning_rate)
    rates = {"high": peak, "low": LOW_SHARE * peak}
    all_seeds = [first_seed + k for k in range(seeds)]
    plain = [Member(0.0, rates[level], seed, "uncorrected") for level in LEVELS for seed in all_seeds]
    corrected = [
        Member(gamma, rates[level], seed)
        for level in LEVELS
        for gamma in gammas
        if gamma > 0
        for seed in all_seeds
    ]
    extra = [Member(approximate, peak, seed, "approximate") for seed in all_seeds] if approximate else []
    account = Account(recipe, rates, gammas, all_seeds)
    for member in [*plain, *corrected, *extra]:
        yield from account.declare(member)
    yield from account.declare_summaries()
    yield sealed_edges(gammas, b1, recipe)

    checks = _checkpoints(steps, checkpoints)
    look_at = sorted({max(1, round(share * steps)) for share in np.linspace(*PROBED_SHARES, probes)})
    # AdamW's part of the work: its probe takes about as long as its training.
    share = 2 * len(plain) / (2 * len(plain) + 2 * len(corrected) + len(extra))

    # 2. AdamW, with the probe.
    probe = Probe(plain, look_at, minibatches, curved, iterations)
    for event in train_corrections(plain, recipe, shown, held_out, checks, probe):
        yield from account.note(event, 0.0, share, "training AdamW, γ = 0")

    # 3. What the theories say of the others.
    yield sealed_orders(account, gammas, b1, text.name)

    # 4. Every other gamma; MVR's curvature is watched too, on one seed.
    mvr = [Member(1.0, rates[level], first_seed) for level in LEVELS]
    probe = Probe(mvr, look_at, minibatches, curved, iterations)
    for event in train_corrections([*corrected, *extra], recipe, shown, held_out, checks, probe):
        yield from account.note(event, share, 1.0, "training γ above 0")

    # 5. Side by side.
    yield from account.summaries()
    yield Progress(1.0, account.tokens, "done")


def _checkpoints(steps: int, count: int) -> list[int]:
    """`count` steps, evenly spaced but for an early first one; the last ends the run."""
    later = np.linspace(0, steps, count)[1:]
    return sorted({max(1, round(FIRST_CHECK * steps)), *(max(1, round(step)) for step in later)})


def _check(
    gammas: Sequence[float],
    approximate: float | None,
    learning_rate: float,
    steps: int,
    seeds: int,
    first_seed: int,
    batch: int,
    b1: float,
    b2: float,
    checkpoints: int,
) -> None:
    """BadInput for arguments that make no sense."""
    for gamma in [*gammas, *([] if approximate is None else [approximate])]:
        if not 0 <= gamma <= 1:
            raise BadInput(f"γ = {gamma:g} was given; γ lies between 0 (AdamW) and 1 (MVR).")
    if not gammas or gammas[0] != 0 or gammas[-1] != 1 or len(gammas) < 3:
        given = ", ".join(f"{gamma:g}" for gamma in gammas) or "none"
        raise BadInput(
            f"The γ given are {given}; the comparison needs 0, 1 and at least one in between, such as 0.1."
        )
    for name, rate in (("b1", b1), ("b2", b2)):
        if not 0 < rate < 1:
            raise BadInput(f"{name} = {rate:g} was given; a decay lies between 0 and 1, b1 usually at 0.95.")
    if not (math.isfinite(learning_rate) and learning_rate > 0):
        raise BadInput(f"The learning rate is {learning_rate:g}; give a positive number such as 0.01.")
    if seeds < 1:
        raise BadInput(f"{seeds} seeds train nothing; give at least 1, and 3 for an interval.")
    if first_seed < 0:
        raise BadInput(f"The first seed is {first_seed}; give a whole number from 0 on.")
    if batch < 1:
        raise BadInput(f"A batch of {batch} windows trains nothing; give at least 1.")
    if steps < 16:
        raise BadInput(f"{steps} steps are too few to warm up, probe and decay; give at least 16.")
    if not 2 <= checkpoints <= steps:
        raise BadInput(f"{checkpoints} checkpoints in {steps} steps were asked for; give 2 to {steps}.")


def _check_probe(
    evaluated: int, probes: int, minibatches: int, curved: int, iterations: int, together: int
) -> None:
    if min(evaluated, probes, curved, iterations, together) < 1:
        raise BadInput(
            f"{evaluated} held-out windows, {probes} probes, {curved} windows and {iterations} iterations for the "
            f"curvature and {together} models at once were given; each has to be at least 1."
        )
    if minibatches < 2:
        raise BadInput(f"{minibatches} minibatches have no variance; give the probe at least 2, better 12.")
