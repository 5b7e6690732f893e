"""One ladder, many exhibits: models of several widths and seeds, trained side by side and measured as they
go.

Every width is one stacked group of seeds. The groups take turns, a step each, so that all curves grow at
once. A seed fixes the data order for every width, so that widths are compared on the same text in the same
order, each position being shown at most once. At log-spaced steps the averaged weights are measured on
held-out windows that all models share.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from explorer.errors import BadInput, Diverged
from explorer.training.averaging import average_into
from explorer.training.corpus import Corpus
from explorer.training.decoder import Decoder
from explorer.training.place import usable_device
from explorer.training.residual_mlp import ResidualMLP
from explorer.training.stacked import Stacked
from explorer.training.windows import cut, evenly
from explorer.training.windows import order as data_order

MODELS: dict[str, type[Stacked]] = {"residual-mlp": ResidualMLP, "decoder": Decoder}
WARMUP_STEPS = 30
TICK_SECONDS = 0.05
CHECK_STEPS = 10
"""How often training losses are looked at; each look waits for a GPU to finish its step."""
BLOCK = 2048
"""Held-out tokens a member measured at a time: so few that Stop is answered between two blocks."""
STEP_OVERHEAD = 2.5e7
"""What a step costs beside its arithmetic, in forward FLOPs; only the progress bar depends on it."""


@dataclass(frozen=True)
class Evaluation:
    """One honest point of L(N, D).

    Args:
        width: of the model.
        seed: of the model.
        step: training steps done.
        tokens: training tokens D this model has seen.
        loss: held-out cross-entropy of its averaged weights, nats a token.
    """

    width: int
    seed: int
    step: int
    tokens: int
    loss: float


@dataclass(frozen=True)
class Tick:
    """A sign of life: share of this ladder's work done, and training tokens of all its models."""

    done: float
    tokens: int


def log_spaced_steps(first: int, last: int, count: int) -> list[int]:
    """`count` increasing whole steps from `first` to `last`, as evenly spaced in their logarithm as they can
    be.

    Raises:
        BadInput: there are not that many different steps in between.
    """
    steps = np.unique(np.rint(np.geomspace(max(first, 1), max(last, 1), max(count, 1))).astype(int))
    if first < 1 or len(steps) != count:
        raise BadInput(f"There are no {count} log-spaced steps from {first:,} to {last:,}; train for longer.")
    return [int(step) for step in steps]


def tokens_a_step(model: str, batch: int) -> int:
    """Training tokens one model sees a step: predicted positions of `batch` windows."""
    return batch * model_class(model).predicted


def model_class(model: str) -> type[Stacked]:
    """The stacked model of that name; BadInput if there is none."""
    if model not in MODELS:
        raise BadInput(f"There is no model called {model!r}; choose one of {', '.join(MODELS)}.")
    return MODELS[model]


def count_parameters(model: str, width: int, vocabulary: int) -> tuple[int, int]:
    """Non-embedding parameters N, and all parameters, of one model of this width."""
    made = model_class(model)(width, [0], vocabulary)
    return made.non_embedding_count(), made.parameter_count()


def longest_single_pass(corpus: Corpus, model: str, batch: int) -> int:
    """Steps for which no position of the training text is shown twice."""
    kind = model_class(model)
    return max(0, len(corpus.training) - kind.context) // (batch * kind.predicted)


def require_single_pass(corpus: Corpus, model: str, batch: int, steps: int) -> None:
    """BadInput unless `steps` steps show no position of the training text twice."""
    if steps > longest_single_pass(corpus, model, batch):
        kind = model_class(model)
        needed = batch * steps * kind.predicted + kind.context
        raise BadInput(
            f"The text {corpus.name!r} has {len(corpus.training):,} {corpus.tokenizer.name} to train on; {steps:,} "
            f"steps need {needed:,}, since nothing is read twice. Take a longer text, or a smaller size."
        )


def peak_rate(width: int, learning_rate: float) -> float:
    """The constant rate of a width: learning_rate at 32, falling as 1 / sqrt(width), flat under 16."""
    return learning_rate * math.sqrt(32 / max(width, 16))


def train_ladder(
    corpus: Corpus,
    *,
    model: str,
    widths: Sequence[int],
    seeds: Sequence[int],
    checkpoints: Sequence[int],
    batch: int,
    learning_rate: float = 4e-3,
    evaluated: int = 16_384,
    device: str = "cpu",
) -> Iterator[Evaluation | Tick]:
    """Trains every width with every seed up to the last checkpoint.

    Args:
        corpus: what to train and to measure on.
        model: "residual-mlp" or "decoder".
        widths: one stacked group each.
        seeds: members of each group.
        checkpoints: steps at which to measure, increasing; training ends at the last.
        batch: windows a step a member.
        learning_rate: of width 32; see `peak_rate`. Constant after 30 steps of linear warm-up.
        evaluated: held-out tokens a measurement.
        device: "cpu", "cuda", "cuda:1", "mps" ...

    Yields:
        an Evaluation for each checkpoint, width and seed, in this order, and Ticks in between. On the CPU the
        same arguments and number of threads give the same losses, bit for bit; a member's curve does not
        depend on which others are trained beside it, beyond rounding.

    Raises:
        BadInput: unknown model or device, or a corpus too short for a single pass.
        Diverged: a loss is not finite, or is far above that of a uniform guess.
    """
    kind = model_class(model)
    place = usable_device(device)
    steps = checkpoints[-1]
    require_single_pass(corpus, model, batch, steps)

    windows = cut(corpus.training, kind.context, kind.predicted, place)
    order = torch.stack([data_order(seed, len(windows), batch * steps) for seed in seeds]).to(place)
    held_out = cut(corpus.held_out, kind.context, kind.predicted, place)
    held_out = evenly(held_out, max(1, evaluated // kind.predicted))
    blocks = held_out.long().expand(len(seeds), -1, -1).split(max(1, BLOCK // kind.predicted), dim=1)
    groups = [Group(kind(width, seeds, corpus.vocabulary).to(place), learning_rate) for width in widths]

    positions = batch * kind.predicted * len(seeds)
    costs = [3 * group.model.forward_flops() * positions + STEP_OVERHEAD for group in groups]
    spent, tokens, last_tick = 0.0, 0, time.perf_counter()
    for step in range(1, steps + 1):
        shown = windows[order[:, (step - 1) * batch : step * batch]].long()
        for group, cost in zip(groups, costs, strict=True):
            losses = group.train(shown, step)
            spent += cost
            tokens += positions
            if step % CHECK_STEPS == 0:
                group.check(losses, step)
            if time.perf_counter() - last_tick > TICK_SECONDS:
                yield Tick(spent / (steps * sum(costs)), tokens)
                last_tick = time.perf_counter()
        if step not in checkpoints:
            continue
        for group in groups:
            total = torch.zeros(len(seeds), device=place)
            for block in blocks:
                total += group.held_out_losses(block) * block.shape[1]
                if time.perf_counter() - last_tick > TICK_SECONDS:
                    yield Tick(spent / (steps * sum(costs)), tokens)
                    last_tick = time.perf_counter()
            losses = total / len(held_out)
            group.check(losses, step)
            for seed, loss in zip(seeds, losses.tolist(), strict=True):
                yield Evaluation(group.model.width, seed, step, step * batch * kind.predicted, loss)


class Group:
    """The seeds of one width: stacked weights, their optimiser, and their average.

    Args:
        model: freshly made, on its device.
        learning_rate: of width 32.
    """

    def __init__(self, model: Stacked, learning_rate: float) -> None:
        self.model = model
        self.averaged = copy.deepcopy(model).requires_grad_(False)
        self.rate = peak_rate(model.width, learning_rate)
        weights = list(model.parameters())
        fused = weights[0].device.type in ("cpu", "cuda")
        self.optimiser = torch.optim.AdamW(weights, betas=(0.9, 0.95), weight_decay=0.01, fused=fused)

    def train(self, windows: Tensor, step: int) -> Tensor:
        """One step (counted from 1) on windows (E, B, context + 1); the members' losses (E,) before it."""
        losses = self.model.losses(windows)
        losses.sum().backward()  # a sum: no member's gradient depends on how many others there are
        self.optimiser.param_groups[0]["lr"] = self.rate * min(1.0, step / WARMUP_STEPS)
        self.optimiser.step()
        self.optimiser.zero_grad()
        average_into(self.averaged.parameters(), self.model.parameters(), step)
        return losses.detach()

    @torch.no_grad()
    def held_out_losses(self, windows: Tensor) -> Tensor:
        """Losses (E,) of the averaged weights on windows (E, B, context + 1)."""
        return self.averaged.losses(windows)

    def check(self, losses: Tensor, step: int) -> None:
        """Diverged if a member's loss is not finite, or three times that of a uniform guess."""
        guess = math.log(self.model.vocabulary)
        for seed, loss in zip(self.model.seeds, losses.tolist(), strict=True):
            if not loss < 3 * guess:
                raise Diverged(
                    f"The model of width {self.model.width}, seed {seed}, diverged by step {step:,}: its "
                    f"loss is {loss:.3g} nats a token, where a uniform guess has {guess:.3g}; "
                    "lower the learning rate."
                )
