"""Dropout profiles raced against each other: all of them, with all seeds, trained at once as one stack of models.

Profiles share, seed by seed, the initial weights, the images and their labels, the order of the batches and the luck
of the masks, so that their differences are paired. Adam falls from its rate to zero along half a cosine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.errors import BadInput, Diverged
from explorer.training.digits import CLASSES, Task
from explorer.training.dropout import SharedDropout

TICK_SECONDS = 0.05
BLOCK = 250
"""Images a member that are measured at a time: so few that Stop is answered between two blocks."""


@dataclass(frozen=True)
class Measurement:
    """All members after an epoch, without dropout; each array is (C, S).

    Args:
        epoch: counted from 1.
        test_loss: mean cross-entropy in nats an image.
        test_accuracy: share of images that are told right.
        train_loss: on the training part with its wrong labels.
    """

    epoch: int
    test_loss: Tensor
    test_accuracy: Tensor
    train_loss: Tensor


@dataclass(frozen=True)
class Tick:
    """A sign of life: share of the work done, and images shown to all members."""

    done: float
    images: int


def train_profiles(
    build: Callable[[Sequence[int], int], nn.Module],
    task: Task,
    *,
    rates: Sequence[Sequence[float]],
    seeds: Sequence[int],
    epochs: int,
    batch: int,
    learning_rate: float,
    measured: Sequence[int],
) -> Iterator[Measurement | Tick]:
    """Trains one model a profile and seed.

    Args:
        build: takes the seeds and a number of copies and gives the stacked model.
        task: images and labels of each of the S seeds; where they lie is where the models train.
        rates: of C profiles in every dropped layer, (C, layers).
        measured: epochs after which to measure, increasing.

    Yields:
        a Measurement for each of `measured`, and Ticks in between.

    Raises:
        BadInput: a batch larger than the training part.
        Diverged: a loss is not finite.
    """
    device, (count, images) = task.images.device, task.images.shape[:2]
    if not 1 <= batch <= images:
        raise BadInput(f"A batch of {batch} images was given for {images} to train on; give 1 to {images}.")
    profiles = len(rates)
    model = build(seeds, profiles).to(device)
    drop = SharedDropout(rates, seeds, model.dropped_shape(batch), device)  # type: ignore[operator]
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=device.type in ("cpu", "cuda"))
    orders = [torch.Generator().manual_seed(seed + 1_000_003) for seed in seeds]
    of_seed = torch.arange(count, device=device)[:, None]
    steps = epochs * (images // batch)

    def everyone(one_a_seed: Tensor) -> Tensor:
        """(S, ...) repeated for every profile: (C S, ...)."""
        return one_a_seed.expand(profiles, *one_a_seed.shape).flatten(0, 1)

    step, last_tick = 0, time.perf_counter()
    for epoch in range(1, epochs + 1):
        order = torch.stack([torch.randperm(images, generator=g) for g in orders]).to(device)
        for start in range(0, images - batch + 1, batch):
            chosen = order[:, start : start + batch]
            drop.draw()
            logits = model(everyone(task.images[of_seed, chosen]), drop)
            labels = everyone(task.labels[of_seed, chosen])
            # A mean over a member's images, a sum over members: none feels how many others there are.
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum") / batch
            loss.backward()
            optimiser.param_groups[0]["lr"] = learning_rate / 2 * (1 + math.cos(math.pi * step / steps))
            optimiser.step()
            optimiser.zero_grad()
            step += 1
            if time.perf_counter() - last_tick > TICK_SECONDS:
                yield Tick(step / steps, step * batch * count * profiles)
                last_tick = time.perf_counter()
        if epoch not in measured:
            continue
        found: list[Tensor] = []
        for shown, told in ((task.test_images, task.test_labels), (task.images, task.labels)):
            sums = torch.zeros(2, count * profiles, device=device)
            for pixels, labels in zip(shown.split(BLOCK, dim=1), told.split(BLOCK, dim=1), strict=True):
                sums += _measure(model, everyone(pixels), everyone(labels))
                if time.perf_counter() - last_tick > TICK_SECONDS:
                    yield Tick(step / steps, step * batch * count * profiles)
                    last_tick = time.perf_counter()
            found.append((sums / shown.shape[1]).view(2, profiles, count).cpu())
        test, train = found
        if not bool(torch.isfinite(torch.stack(found)).all()):
            raise Diverged(f"A network diverged by epoch {epoch}; lower the learning rate.")
        yield Measurement(epoch, test[0], test[1], train[0])
    yield Tick(1.0, step * batch * count * profiles)


@torch.no_grad()
def _measure(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    """Summed cross-entropy and right answers of every member, (2, E)."""
    logits = model(images)
    losses = F.cross_entropy(logits.view(-1, CLASSES), labels.flatten(), reduction="none")
    return torch.stack([losses.view(labels.shape).sum(1), (logits.argmax(-1) == labels).float().sum(1)])
