"""Models that read the same domains in different proportions, trained side by side.

One model a mixture and seed, all of a width stacked in one group. Two models of one seed start from the same values and
read every domain in the same order, only more or less of it: their difference is the mixture's. How many rows of a
batch come from a domain is as even as it can be: row j of B belongs to the domain in which (j + v) / B falls when the
weights are laid end to end, where v is drawn once a step and shared by all mixtures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.errors import BadInput
from explorer.simplex import check_weights
from explorer.training.corpus import Corpus
from explorer.training.ladder import (
    BLOCK,
    CHECK_STEPS,
    STEP_OVERHEAD,
    TICK_SECONDS,
    Group,
    Tick,
    model_class,
)
from explorer.training.place import usable_device
from explorer.training.windows import cut, evenly, order

PLANNED_STEPS = 64
"""Steps whose windows are chosen at a time."""


@dataclass(frozen=True)
class DomainLosses:
    """What one model has learned of every domain.

    Args:
        width: of the model.
        mixture: its number among those that were given.
        seed: of the model.
        tokens: training tokens D it has seen, of all domains together.
        losses: held-out cross-entropy of its averaged weights on each domain, nats a token.
    """

    width: int
    mixture: int
    seed: int
    tokens: int
    losses: tuple[float, ...]


def longest_pass(domains: Sequence[Corpus], heaviest: Sequence[float], model: str, batch: int) -> int:
    """Steps for which no domain is read twice, if its weight is at most `heaviest`."""
    kind = model_class(model)
    return min(
        int(_windows_in(domain, kind.context, kind.predicted) / (batch * weight + 1))
        for domain, weight in zip(domains, heaviest, strict=True)
        if weight > 0
    )


def train_mixtures(
    domains: Sequence[Corpus],
    mixtures: Sequence[Sequence[float]],
    *,
    model: str,
    widths: Sequence[int],
    seeds: Sequence[int],
    checkpoints: Sequence[int],
    batch: int,
    learning_rate: float = 4e-3,
    evaluated: int = 4_096,
    device: str = "cpu",
) -> Iterator[DomainLosses | Tick]:
    """Trains every width on every mixture with every seed, up to the last checkpoint.

    Args:
        domains: what is mixed, all with one tokenizer.
        mixtures: weights of the domains.
        model: "residual-mlp" or "decoder".
        widths: one stacked group each; the groups take turns, a step each.
        seeds: of the initial values and of the order in which domains are read.
        checkpoints: steps at which to measure, increasing; training ends at the last.
        batch: windows a step a model.
        learning_rate: of width 32; see `explorer.training.ladder.peak_rate`.
        evaluated: held-out tokens of each domain.
        device: "cpu", "cuda", "mps" ...

    Yields:
        DomainLosses for each checkpoint, width, mixture and seed, in this order, and Ticks in between.

    Raises:
        BadInput: unknown model or device, weights that are no mixture, or a domain too short for a single pass.
        Diverged: a loss is not finite, or is far above that of a uniform guess.
    """
    kind, place, steps = model_class(model), usable_device(device), checkpoints[-1]
    names = [domain.name for domain in domains]
    weights = np.array([check_weights(mixture, names) for mixture in mixtures])
    text, first, count = _joined(domains, kind.context, kind.predicted)
    room = longest_pass(domains, weights.max(axis=0).tolist(), model, batch)
    if steps > room:
        raise BadInput(
            f"{steps:,} steps would read a domain twice: with these weights the text of "
            f"{', '.join(names)} suffices for {room:,}. Take a longer text, or a smaller size."
        )
    windows = cut(text, kind.context, kind.predicted, place)
    plan = _Plan(weights, seeds, first, count, batch, steps)
    held_out = [
        evenly(cut(domain.held_out, kind.context, kind.predicted, place), max(1, evaluated // kind.predicted))
        .long()
        .expand(len(weights) * len(seeds), -1, -1)
        .split(max(1, BLOCK // kind.predicted), dim=1)
        for domain in domains
    ]
    members = [seed for _ in weights for seed in seeds]
    groups = [Group(kind(width, members, domains[0].vocabulary).to(place), learning_rate) for width in widths]
    positions = batch * kind.predicted * len(members)
    costs = [3 * group.model.forward_flops() * positions + STEP_OVERHEAD for group in groups]
    spent, tokens, last_tick = 0.0, 0, time.perf_counter()
    for step in range(1, steps + 1):
        at = (step - 1) % PLANNED_STEPS
        if at == 0:
            chosen = torch.from_numpy(plan.next(min(PLANNED_STEPS, steps - step + 1))).to(place)
        shown = windows[chosen[:, at]].long()
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
            measured = []
            for blocks in held_out:
                total = torch.zeros(len(members), device=place)
                for block in blocks:
                    total += group.held_out_losses(block) * block.shape[1]
                    if time.perf_counter() - last_tick > TICK_SECONDS:
                        yield Tick(spent / (steps * sum(costs)), tokens)
                        last_tick = time.perf_counter()
                losses = total / sum(block.shape[1] for block in blocks)
                group.check(losses, step)
                measured.append(losses.cpu())
            table = torch.stack(measured, dim=1).view(len(weights), len(seeds), -1).tolist()
            for mixture, rows in enumerate(table):
                for seed, row in zip(seeds, rows, strict=True):
                    seen = step * batch * kind.predicted
                    yield DomainLosses(group.model.width, mixture, seed, seen, tuple(row))


class _Plan:
    """Which windows each model reads, a few steps at a time.

    Args:
        weights: (M, K).
        seeds: S of them.
        first, count: number of the first window of each domain in the joint text, and how many it has, (K,).
        batch, steps: windows a step, and steps in all.
    """

    def __init__(
        self,
        weights: np.ndarray,
        seeds: Sequence[int],
        first: np.ndarray,
        count: np.ndarray,
        batch: int,
        steps: int,
    ) -> None:
        self.edges = np.cumsum(weights, axis=1)[:, :-1]  # (M, K - 1)
        self.batch = batch
        self.random = [np.random.default_rng([seed, 7]) for seed in seeds]
        wanted = np.minimum(count, np.ceil(weights.max(axis=0) * batch * steps).astype(int) + steps)
        domains = list(enumerate(zip(first.tolist(), count.tolist(), wanted.tolist(), strict=True)))
        self.order = [
            [start + order(seed + 31 * k, whole, part).numpy() for k, (start, whole, part) in domains]
            for seed in seeds
        ]
        self.read = np.zeros((len(weights), len(seeds), weights.shape[1]), dtype=np.int64)

    def next(self, steps: int) -> np.ndarray:
        """Numbers of windows (M * S, steps, batch)."""
        chosen = np.empty((*self.read.shape[:2], steps * self.batch), dtype=np.int64)
        for s, random in enumerate(self.random):
            place = (np.arange(self.batch) + random.random((steps, 1))) / self.batch
            for m, edges in enumerate(self.edges):
                domain = np.searchsorted(edges, place.ravel(), side="right")
                for k, numbers in enumerate(self.order[s]):
                    rows = np.flatnonzero(domain == k)
                    start = self.read[m, s, k]
                    chosen[m, s, rows] = numbers[start : start + len(rows)]
                    self.read[m, s, k] += len(rows)
        return chosen.reshape(-1, steps, self.batch)


def _windows_in(domain: Corpus, context: int, predicted: int) -> int:
    kept = len(domain.training) // predicted * predicted
    return max(0, kept - context - 1) // predicted


def _joined(
    domains: Sequence[Corpus], context: int, predicted: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One text of all domains, cut so that windows of one never reach into the next.

    Returns:
        token ids; the number of each domain's first window among all of the text's windows; how many it has, (K,).
    """
    texts, first, count, length = [], [], [], 0
    for domain in domains:
        kept = domain.training[: len(domain.training) // predicted * predicted]
        texts.append(kept)
        first.append(length // predicted)
        count.append(_windows_in(domain, context, predicted))
        length += len(kept)
    return np.concatenate(texts), np.array(first), np.array(count)
