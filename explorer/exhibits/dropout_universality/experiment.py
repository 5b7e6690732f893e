"""Three live experiments: schedules of dropout trained against each other, and correlations in random networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from explorer.exhibits.dropout_universality.schedules import (
    EQUAL_BUDGET,
    RANKED,
    damage,
    profile,
    relative_reach,
    rescaled,
)
from explorer.records import Point, PredictedCurve, Prediction, Progress, Record, Series
from explorer.training.digits import digit_task
from explorer.training.dropout_mlp import DropoutMLP
from explorer.training.profiles import Tick, train_profiles
from explorer.training.random_network import correlations_by_layer
from explorer.training.vision_transformer import VisionTransformer

CUSTOM = "custom"
MEAN, TRAIN, EACH, PLACED = "losses", "training_losses", "networks", "final_losses"
"""The figures: test and training loss by epoch, means over seeds; test loss of each network; final losses by reach."""


def run(
    *,
    conditions: Sequence[str],
    custom: Sequence[float] | None,
    budget: float,
    depth: int,
    seeds: int,
    first_seed: int,
    noise: float,
    width: int,
    images: int,
    tested: int,
    batch: int,
    epochs: int,
    every: int,
    learning_rate: float = 1e-3,
    transformer: bool = False,
    device: str = "cpu",
) -> Iterator[Record]:
    """Seals the order in which the schedules should end, then trains all of them with all seeds at once.

    Args:
        conditions: names of schedules; "constant" has to be among them.
        custom: rates of a schedule drawn by hand, or None.
        budget: mean dropout rate of the schedules of equal budget.
        depth: hidden layers, or blocks of a transformer.
        noise: share of random labels.
        every: epochs between measurements.
        transformer: train a vision transformer in place of a plain ReLU network.

    Yields:
        Series (labels schedule, measure, and seed but for means over seeds), one Prediction before the first Point,
        Points (x = epoch, y = nats an image; at the end x = reach over that of constant dropout, y = test loss over
        that of constant dropout with the same seed), Progress.

    Raises:
        BadInput: a schedule, a budget or a size that cannot be.
        Diverged: a loss is not finite.
    """
    rates = {name: profile(name, budget, depth) for name in conditions}
    if custom is not None:
        rates[CUSTOM] = rescaled(np.array(custom), budget, depth)
    all_seeds = [first_seed + i for i in range(seeds)]
    placed = [name for name in rates if name in EQUAL_BUDGET or name == CUSTOM]

    # 1. Name every curve.
    for name in rates:
        yield _series(MEAN, name, "mean test loss")
        yield _series(TRAIN, name, "mean training loss")
        for seed in all_seeds:
            yield _series(EACH, name, "test loss", seed)
            if name in placed:
                yield _series(PLACED, name, "final loss", seed)

    # 2. Say what is expected, before anything is trained.
    yield _order(rates, placed, budget)

    # 3. Train.
    yield Progress(0.0, note="reading the digits")
    task = digit_task(all_seeds, images, tested, noise, device)
    if transformer:
        build: Any = partial(_transformer, width, depth)
        dropped = [np.repeat(one, 2).tolist() for one in rates.values()]  # both branches of a block
    else:
        build, dropped = partial(_mlp, width, depth), [one.tolist() for one in rates.values()]
    note = f"training {len(rates) * seeds} networks at once"
    final = np.zeros((len(rates), seeds))
    events = train_profiles(
        build,
        task,
        rates=dropped,
        seeds=all_seeds,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        measured=range(every, epochs + 1, every),
    )
    for event in events:
        if isinstance(event, Tick):
            yield Progress(event.done, note=note)
            continue
        final, trained = event.test_loss.double().numpy(), event.train_loss.double().numpy()
        for name, losses, learnt in zip(rates, final, trained, strict=True):
            yield Point(_key(MEAN, name), event.epoch, losses.mean())
            yield Point(_key(TRAIN, name), event.epoch, learnt.mean())
            for seed, loss in zip(all_seeds, losses, strict=True):
                yield Point(_key(EACH, name, seed), event.epoch, loss)

    # 4. Put what was found over what was expected.
    for name, losses in zip(rates, final / final[list(rates).index("constant")], strict=True):
        if name in placed:
            for seed, loss in zip(all_seeds, losses, strict=True):
                yield Point(_key(PLACED, name, seed), relative_reach(rates[name], budget), loss)
    yield Progress(1.0, note="done")


def _mlp(width: int, depth: int, seeds: Sequence[int], copies: int) -> DropoutMLP:
    return DropoutMLP(width, depth, seeds, copies)


def _transformer(width: int, depth: int, seeds: Sequence[int], copies: int) -> VisionTransformer:
    return VisionTransformer(width, depth, seeds, copies)


def _key(figure: str, name: str, seed: int | None = None) -> str:
    return f"{name}, {figure}" if seed is None else f"{name}, seed {seed}, {figure}"


def _series(figure: str, name: str, measure: str, seed: int | None = None) -> Series:
    labels: dict[str, Any] = {"schedule": name, "measure": measure}
    return Series(_key(figure, name, seed), figure, name, labels if seed is None else labels | {"seed": seed})


def _order(rates: dict[str, np.ndarray], placed: Sequence[str], budget: float) -> Prediction:
    """The reach of every schedule of equal budget: the larger, the lower its test loss should be.

    Beside it two simpler guesses, also the larger the better: less damage, and dropout in earlier layers.
    """
    reach = {name: relative_reach(rates[name], budget) for name in placed}
    order = sorted(placed, key=lambda name: -reach[name])
    layers = np.arange(len(rates[order[0]]))
    return Prediction(
        name="order",
        figure="reach",
        law="regularisation reach, ReLU",
        coefficients={f"V, {name}": reach[name] for name in order},
        curves=[
            PredictedCurve(
                "reach", "V / V constant", list(range(len(order))), [reach[n] for n in order], style="bars"
            )
        ],
        note=f"From the lowest final test loss to the highest: {', '.join(order)}.",
        details={
            "reach": reach,
            "ranked": [name for name in RANKED if name in reach],
            "baselines": {
                "least damage first": {name: -round(damage(rates[name], 1 / 3), 9) for name in placed},
                "earliest layers first": {
                    name: -round(float(layers @ rates[name]) / budget, 9) for name in placed
                },
            },
        },
    )


def propagate(
    *,
    activation: str,
    p: float,
    sw2: float,
    sb2: float,
    c0: float,
    q0: float,
    width: int,
    depth: int,
    seeds: int,
    first_seed: int,
    pairs: int,
    device: str = "cpu",
) -> Iterator[Record]:
    """Sends pairs of inputs through random networks, one network a seed, each input under its own masks.

    Yields:
        Series (labels seed, width), Points (x = layer, y = mean correlation over the pairs), Progress.

    Raises:
        BadInput: an activation or a width that cannot be.
    """
    for at, seed in enumerate(range(first_seed, first_seed + seeds)):
        key = f"network {seed}"
        yield Series(key, "correlation", "measured, a dot a network", {"seed": seed, "width": width})
        layers = correlations_by_layer(
            activation,
            width=width,
            depth=depth,
            p=p,
            sw2=sw2,
            sb2=sb2,
            c0=c0,
            q0=q0,
            pairs=pairs,
            seed=seed,
            device=device,
        )
        for layer, correlations in enumerate(layers):
            yield Point(key, layer, float(correlations.to(torch.float64).mean()))
        yield Progress((at + 1) / seeds, note=f"{at + 1} of {seeds} networks")
