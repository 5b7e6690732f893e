"""Small models predict a bigger one: the prediction is sealed before the bigger one takes its first step.

1. Read the corpus; name every curve.
2. Train the small ladder.
3. Fit L = E + A / N^alpha + B / D^beta to the small models.
4. State what the bigger model will measure at each of its budgets.
5. Train the bigger model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.laws import law
from explorer.records import Point, PredictedCurve, Prediction, Progress, Record, Series
from explorer.training.corpus import Corpus, load_corpus
from explorer.training.ladder import (
    Evaluation,
    Tick,
    count_parameters,
    log_spaced_steps,
    longest_single_pass,
    model_class,
    require_single_pass,
    tokens_a_step,
    train_ladder,
)

FIGURE = "ladder"
LAW = "chinchilla"
COVERAGE = 0.9
FEWEST_BUDGETS = 7
LEAST_COMPUTE_RATIO = 4.0
HUBER_DELTA = 1e-3
"""Of the residual in ln L, as in the published fits."""
EARLIEST_STEP = 32
"""First measurement of a run, just after warm-up; then at ratios of 1.5 up to the first budget."""


def run(
    *,
    model: str = "residual-mlp",
    widths: Sequence[int] = (16, 32, 64),
    target: int = 160,
    steps: int = 2_000,
    target_steps: int | None = None,
    seeds: int = 3,
    first_seed: int = 0,
    corpus: str = "code",
    tokenizer: str = "characters",
    batch: int = 256,
    first_budget: int = 70_000,
    budgets: int = 8,
    learning_rate: float = 4e-3,
    evaluated: int = 16_384,
    resamples: int = 200,
    device: str = "cpu",
) -> Iterator[Record]:
    """Trains small models, seals what they predict for a bigger one, then trains that one.

    Args:
        model: "residual-mlp" (8 characters of context) or "decoder" (2 layers, 64 characters of context).
        widths: of the fitted models, increasing, at least three.
        target: width of the held-out model, with at least 4 times the compute 6ND of the largest fitted
            point.
        steps: training steps of the fitted models.
        target_steps: training steps of the held-out model; as many as `steps` if None.
        seeds: how many models of each width, with seeds first_seed, first_seed + 1, ...
        first_seed: the first seed.
        corpus: "code", "prose", or a path to a text file or a folder of text files.
        tokenizer: "characters" (97 symbols) or "bytes" (256).
        batch: windows a step.
        first_budget: tokens from which on points are fitted and scored; earlier ones are only drawn.
        budgets: log-spaced measurements from first_budget to the end of a run, at least 7.
        learning_rate: of width 32; other widths take it times sqrt(32 / width).
        evaluated: held-out tokens a measurement.
        resamples: bootstrap resamples of whole training runs behind the interval.
        device: where to train.

    Yields:
        Series (labels width, seed, N, N_total, role, model, scored_from), Points (x = tokens D, y = held-out
        nats a token), Progress, and one Prediction, before the first point of the held-out model.

    Raises:
        BadInput: an argument that makes no sense, or a corpus too short for a single pass.
        Diverged: a model's loss left all bounds.
    """
    widths = [int(width) for width in widths]
    target_steps = steps if target_steps is None else target_steps
    _check(
        model, widths, target, steps, target_steps, seeds, first_seed, batch, first_budget, budgets, resamples
    )

    # 1. The corpus and the names of all curves.
    yield Progress(0.0, note="reading the corpus")
    text = load_corpus(corpus, tokenizer)  # type: ignore[arg-type]
    a_step = tokens_a_step(model, batch)
    first_step = math.ceil(first_budget / a_step)
    # A shorter text means shorter runs, as long as there is room for the budgets.
    room = longest_single_pass(text, model, batch)
    steps, target_steps = min(steps, room), min(target_steps, room)
    require_single_pass(text, model, batch, _fewest_steps(first_step, budgets))
    scored_from = first_step * a_step
    sizes = {width: count_parameters(model, width, text.vocabulary) for width in [*widths, target]}
    ratio = sizes[target][0] * target_steps / (sizes[widths[-1]][0] * steps)
    if ratio < LEAST_COMPUTE_RATIO:
        raise BadInput(_enough(model, widths[-1], target, steps, target_steps, ratio, text.vocabulary))
    all_seeds = [first_seed + i for i in range(seeds)]
    for width in [*widths, target]:
        for seed in all_seeds:
            yield Series(
                key=_key(width, seed),
                figure=FIGURE,
                label=_label(width, target),
                labels={
                    "width": width,
                    "seed": seed,
                    "N": sizes[width][0],
                    "N_total": sizes[width][1],
                    "role": "held out" if width == target else "fitted",
                    "model": model,
                    "scored_from": scored_from,
                },
            )

    early = _early_steps(first_step)
    settings: dict[str, Any] = {
        "model": model,
        "seeds": all_seeds,
        "batch": batch,
        "learning_rate": learning_rate,
        "evaluated": evaluated,
        "device": device,
    }
    scored = log_spaced_steps(first_step, steps, budgets)
    target_scored = log_spaced_steps(first_step, target_steps, budgets)
    target_budgets = [step * a_step for step in target_scored]
    small_share = _share_of_small(sizes, widths, target, steps, target_steps)

    # 2. The small ladder.
    measured: list[Evaluation] = []
    tokens = 0
    for event in train_ladder(text, widths=widths, checkpoints=early + scored, **settings):
        if isinstance(event, Tick):
            tokens = event.tokens
            yield Progress(event.done * small_share, tokens, "training the small models")
        else:
            measured.append(event)
            yield Point(_key(event.width, event.seed), event.tokens, event.loss)

    # 3. and 4. What they predict, stated before the bigger model exists.
    yield Progress(small_share, tokens, "fitting the law to the small models")
    yield _predict(
        text, model, measured, sizes, target, scored_from, target_budgets, ratio, resamples, first_seed
    )

    # 5. The bigger model.
    small_tokens = len(widths) * seeds * steps * a_step
    for event in train_ladder(text, widths=[target], checkpoints=early + target_scored, **settings):
        if isinstance(event, Tick):
            done = small_share + event.done * (1 - small_share)
            yield Progress(done, small_tokens + event.tokens, "training the bigger model")
        else:
            yield Point(_key(event.width, event.seed), event.tokens, event.loss)
    yield Progress(1.0, small_tokens + seeds * target_steps * a_step, "done")


def _predict(
    text: Corpus,
    model: str,
    measured: list[Evaluation],
    sizes: dict[int, tuple[int, int]],
    target: int,
    scored_from: int,
    target_budgets: list[int],
    ratio: float,
    resamples: int,
    seed: int,
) -> Prediction:
    """The law fitted to every point from the first scored budget on, and what it says of the target.

    All points are fitted, not their means over seeds, so that whole runs can be resampled within their width:
    the points of one run share its seed and are no independent measurements.
    """
    width = np.array([point.width for point in measured])
    runs = np.array([_key(point.width, point.seed) for point in measured])
    N = np.array([sizes[point.width][0] for point in measured], float)
    D = np.array([point.tokens for point in measured], float)
    loss = np.array([point.loss for point in measured])
    late = scored_from <= D

    fitted = fit(law(LAW), {"N": N[late], "D": D[late]}, loss[late], delta=HUBER_DELTA)
    spread = fitted.resample(resamples, clusters=runs[late], strata=width[late], seed=seed)
    whole = fit(law(LAW), {"N": N, "D": D}, loss, delta=HUBER_DELTA)
    slope, intercept = np.polyfit(np.log(6 * N[late] * D[late]), np.log(loss[late]), 1)

    at = {"N": np.full(len(target_budgets), float(sizes[target][0])), "D": np.array(target_budgets, float)}
    low, high = spread.interval(at, COVERAGE)
    widen = _bootstrap_widening(len(np.unique(runs)) // len(np.unique(width)))
    low, high = _widened(fitted.predict(at), low, high, widen)
    small_widths = sorted(set(width.tolist()))
    grid = np.geomspace(D.min(), D.max(), 60)
    curves = [
        PredictedCurve(
            key=f"h={small}",
            label=_label(small, target),
            x=grid.tolist(),
            y=fitted.predict({"N": np.full(len(grid), float(sizes[small][0])), "D": grid}).tolist(),
        )
        for small in small_widths
    ]
    curves.append(
        PredictedCurve(
            key="target",
            label=_label(target, target),
            x=at["D"].tolist(),
            y=fitted.predict(at).tolist(),
            lower=low.tolist() if np.isfinite(high).all() else None,
            upper=high.tolist() if np.isfinite(high).all() else None,
        )
    )
    line = np.exp(intercept + slope * np.log(6 * at["N"] * at["D"]))
    return Prediction(
        name="bigger-model",
        figure=FIGURE,
        law=LAW,
        coefficients={name: float(value) for name, value in fitted.coefficients.items()},
        curves=curves,
        coverage=COVERAGE,
        note=(
            f"Fitted to {int(late.sum())} points of widths {', '.join(map(str, small_widths))} from "
            f"{scored_from:,} tokens on. Width {target} had not been trained; at its last budget it has "
            f"{ratio:.1f} times the compute of every fitted point. The interval holds the fit's uncertainty over "
            "runs, not the bigger model's own."
        ),
        details={
            "model": model,
            "corpus": text.name,
            "scored_budgets": target_budgets,
            "scored_from": scored_from,
            "scored_x": [scored_from, target_budgets[-1]],
            "fitted_widths": small_widths,
            "fitted_points": int(late.sum()),
            "target_width": target,
            "target_N": sizes[target][0],
            "target_N_total": sizes[target][1],
            "compute_ratio": ratio,
            "beyond": [
                bool(6 * n * d >= LEAST_COMPUTE_RATIO * 6 * N[late].max() * D[late].max())
                for n, d in zip(at["N"], at["D"], strict=True)
            ],
            "fit": fitted.to_json(),
            "intervals": {
                name: [
                    float(bound)
                    for bound in _widened(value, *spread.coefficient_interval(name, COVERAGE), widen)
                ]
                for name, value in fitted.coefficients.items()
            },
            "baselines": {
                "same law, all checkpoints": {
                    "coefficients": {name: float(value) for name, value in whole.coefficients.items()},
                    "predicted": whole.predict(at).tolist(),
                },
                "straight line of ln L in ln C": {
                    "coefficients": {"intercept": float(intercept), "slope": float(slope)},
                    "predicted": line.tolist(),
                },
            },
            "corpus_facts": text.facts,
        },
    )


def _bootstrap_widening(seeds: int) -> float:
    """Redrawing n runs of a width shows their variance too small by (n - 1) / n; infinite for one run."""
    return math.sqrt(seeds / (seeds - 1)) if seeds > 1 else math.inf


def _widened(
    value: np.ndarray | float, low: np.ndarray | float, high: np.ndarray | float, factor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds moved away from a positive value, in its logarithm, by `factor`; 0 to infinity for an infinite one."""
    value, low, high = (np.asarray(one, float) for one in (value, low, high))
    if math.isinf(factor):
        return np.zeros_like(value), np.full_like(value, np.inf)
    middle = np.log(value)
    return np.exp(middle - factor * (middle - np.log(low))), np.exp(middle + factor * (np.log(high) - middle))


def _label(width: int, target: int) -> str:
    return f"width {width}, held out" if width == target else f"width {width}"


def _key(width: int, seed: int) -> str:
    return f"h={width} seed {seed}"


def _early_steps(first_step: int) -> list[int]:
    """Steps that are measured and drawn, but neither fitted nor scored."""
    steps, step = [], float(EARLIEST_STEP)
    while round(step) < first_step:
        steps.append(round(step))
        step *= 1.5
    return steps


def _share_of_small(
    sizes: dict[int, tuple[int, int]],
    widths: Sequence[int],
    target: int,
    steps: int,
    target_steps: int,
) -> float:
    """About which share of the time the small models take; a small one is slower than its arithmetic."""
    small = sum(2 * sizes[width][1] for width in widths) * steps
    return small / (small + sizes[target][1] * target_steps)


def _check(
    model: str,
    widths: Sequence[int],
    target: int,
    steps: int,
    target_steps: int,
    seeds: int,
    first_seed: int,
    batch: int,
    first_budget: int,
    budgets: int,
    resamples: int,
) -> None:
    """BadInput for arguments that make no sense together."""
    model_class(model)
    if len(widths) < 3:
        raise BadInput(
            f"{len(widths)} widths cannot show a law in N; give at least three, such as 16, 32, 64."
        )
    if widths[0] < 1 or any(b <= a for a, b in pairwise(widths)):
        raise BadInput(
            f"The widths {', '.join(map(str, widths))} do not increase; give them from small to large."
        )
    if target <= widths[-1]:
        raise BadInput(
            f"The held-out width {target} is not larger than the largest fitted one, {widths[-1]}."
        )
    if seeds < 1:
        raise BadInput(f"{seeds} seeds train nothing; give at least 1, and 3 for an interval.")
    if first_seed < 0:
        raise BadInput(f"The first seed is {first_seed}; give a whole number from 0 on.")
    if batch < 1:
        raise BadInput(f"A batch of {batch} windows trains nothing; give at least 1.")
    if first_budget < 1:
        raise BadInput(f"The first budget is {first_budget} tokens; give at least 1.")
    if budgets < FEWEST_BUDGETS:
        raise BadInput(f"{budgets} budgets are too few to fit a law in D; give at least {FEWEST_BUDGETS}.")
    if resamples < 1:
        raise BadInput(
            f"{resamples} resamples give no interval; give at least 1, and 200 for one worth reading."
        )
    a_step = tokens_a_step(model, batch)
    first_step = math.ceil(first_budget / a_step)
    fewest = _fewest_steps(first_step, budgets)
    for given, whose in [(steps, "fitted"), (target_steps, "held-out")]:
        if given < fewest:
            raise BadInput(
                f"{given:,} steps of the {whose} models are {given * a_step:,} tokens: too few for {budgets} "
                f"budgets from {first_budget:,} tokens on; take at least {fewest:,} steps."
            )


def _fewest_steps(first_step: int, budgets: int) -> int:
    """Room for the budgets: at least a doubling of D, and two steps between neighbours."""
    return max(2 * first_step, first_step + 2 * budgets)


def _enough(
    model: str, largest: int, target: int, steps: int, target_steps: int, ratio: float, vocabulary: int
) -> str:
    """What is told when the held-out model is too close to the fitted ones."""
    wanted = LEAST_COMPUTE_RATIO * count_parameters(model, largest, vocabulary)[0] * steps / target_steps
    width = 16 * math.ceil((target + 1) / 16)
    while count_parameters(model, width, vocabulary)[0] < wanted:
        width += 16
    more = math.ceil(target_steps * LEAST_COMPUTE_RATIO / ratio)
    return (
        f"The held-out model of width {target} has {ratio:.2f} times the compute of the largest fitted "
        f"one; at least {LEAST_COMPUTE_RATIO:g} times is a test. Width {width}, "
        f"or {more:,} steps for it, would be enough."
    )
