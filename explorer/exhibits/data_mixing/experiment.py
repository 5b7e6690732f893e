"""Tiny models on mixtures of real domains; what the laws say is sealed before it is measured.

1. Read the domains; choose the mixtures.
2. Train small models of two widths on the fitted mixtures.
3. Fit the laws; seal what they say of other mixtures, and which mixture is best for a larger model.
4. Train the held-out mixtures.
5. Train the larger model on the fitted mixtures, on those that the laws call best, and on the person's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.exhibits.data_mixing.design import LEAST, best_of, fitted_mixtures, held_out_mixtures
from explorer.fitting.mixing import (
    ExponentialFit,
    MixingFit,
    fit_exponential,
    fit_linear,
    fit_mixing,
)
from explorer.laws.mixing import Coefficients
from explorer.records import Point, PredictedCurve, Prediction, Progress, Record, Series
from explorer.simplex import check_weights, to_plane
from explorer.training.domains import load_domains
from explorer.training.ladder import (
    Tick,
    count_parameters,
    log_spaced_steps,
    model_class,
    tokens_a_step,
)
from explorer.training.mixtures import DomainLosses, longest_pass, train_mixtures

LOSSES, AGAINST, MAP = "losses", "against", "mean_loss_map"
MILLION, BILLION = 1e6, 1e9
FIRST_LOOK = 20
"""Step of the first measurement: it is drawn only."""
CHECKPOINTS, FITTED_CHECKPOINTS, FIRST_SHARE = 6, 3, 8
"""Log-spaced measurements from an eighth of the run to its end, and how many of the last are fitted: earlier ones are
still leaving the plateau on which a model knows single characters only."""


@dataclass(frozen=True)
class Stage:
    """Models of some widths on some mixtures, trained together."""

    role: str
    widths: list[int]
    mixtures: np.ndarray
    note: str


def run(
    *,
    domains: str = "prose, code, sums",
    widths: Sequence[int] = (16, 32),
    target: int = 96,
    steps: int = 700,
    batch: int = 256,
    seeds: int = 3,
    first_seed: int = 0,
    held_out: int = 5,
    yours: Sequence[float] | None = None,
    on_the_map: bool = True,
    model: str = "residual-mlp",
    tokenizer: str = "characters",
    learning_rate: float = 4e-3,
    evaluated: int = 4_096,
    device: str = "cpu",
) -> Iterator[Record]:
    """Trains small models on many mixtures, seals what laws of mixing say, then measures it.

    Args:
        domains: two to eight of prose, code, names, sums, or paths of texts and folders, with commas between.
        widths: of the fitted models, increasing, at least two.
        target: width of the larger model.
        steps: training steps of every model.
        batch: windows a step.
        seeds: how many models of each width and mixture, with seeds first_seed, first_seed + 1, ...
        first_seed: the first seed; it also draws the held-out mixtures.
        held_out: how many mixtures are held out.
        yours: a mixture that the larger model is trained on too; it is told, not judged.
        on_the_map: draw the larger model's mean losses in the triangle, where there are three domains.
        model: "residual-mlp" or "decoder".
        tokenizer: "characters" or "bytes".
        learning_rate: of width 32; other widths take it times sqrt(32 / width).
        evaluated: held-out tokens of each domain a measurement.
        device: where to train.

    Yields:
        Series of held-out loss by tokens for every width, mixture, domain and seed, of measured against predicted
        losses, and of mean losses in the triangle; their Points; Progress; and two Predictions, before the first held-
        out mixture is trained.

    Raises:
        BadInput: an argument that makes no sense, or a domain too short for a single pass.
        Diverged: a model's loss left all bounds.
    """
    widths = [int(width) for width in widths]
    _check(model, widths, target, steps, batch, seeds, first_seed, held_out)

    # 1. The domains and the mixtures.
    yield Progress(0.0, note="reading the domains")
    texts = load_domains(domains.split(","), tokenizer)  # type: ignore[arg-type]
    names = [text.name for text in texts]
    K = len(names)
    fitted, held = fitted_mixtures(K), held_out_mixtures(K, held_out, first_seed)
    if yours is not None:
        yours = check_weights(yours, names)
    heaviest = np.maximum(1 - (K - 1) * LEAST, yours if yours is not None else 0.0)
    room = longest_pass(texts, np.broadcast_to(heaviest, K).tolist(), model, batch)
    if room < steps:
        raise BadInput(
            f"The domains {', '.join(names)} suffice for {room:,} steps without reading anything twice, "
            f"and {steps:,} are wanted. Give longer texts, or a smaller size."
        )
    N = {w: count_parameters(model, w, texts[0].vocabulary)[0] / MILLION for w in [*widths, target]}
    D = steps * tokens_a_step(model, batch) / BILLION
    checkpoints = log_spaced_steps(max(steps // FIRST_SHARE, 2), steps, CHECKPOINTS)
    if checkpoints[0] > FIRST_LOOK:
        checkpoints = [FIRST_LOOK, *checkpoints]
    settings: dict[str, Any] = {
        "model": model,
        "seeds": [first_seed + i for i in range(seeds)],
        "checkpoints": checkpoints,
        "batch": batch,
        "learning_rate": learning_rate,
        "evaluated": evaluated,
        "device": device,
    }
    narrow = Stage("fitted", widths, fitted, "training small models on the fitted mixtures")
    unseen = Stage("held out", widths[-1:], held, "training the held-out mixtures")
    # The larger stage knows its mixtures only after the fit: about two more.
    costs = [_cost(model, stage, texts[0].vocabulary) for stage in (narrow, unseen)]
    costs.append(
        _cost(model, Stage("larger", [target], fitted[:1], ""), texts[0].vocabulary) * (len(fitted) + 2)
    )
    whole = sum(costs)

    def train(stage: Stage, before: float, tokens: int) -> Iterator[Record | np.ndarray]:
        """Records of one stage, and at its end the losses (width, checkpoint, mixture, seed, domain)."""
        shape = (len(stage.widths), len(checkpoints), len(stage.mixtures), seeds, K)
        found, named = np.full(shape, np.nan), set()
        cost = _cost(model, stage, texts[0].vocabulary)
        for event in train_mixtures(texts, stage.mixtures.tolist(), widths=stage.widths, **settings):
            if isinstance(event, Tick):
                yield Progress(
                    min((before + event.done * cost) / whole, 1.0), tokens + event.tokens, stage.note
                )
                continue
            for k, loss in enumerate(event.losses):
                series = _series(stage, event, k, names, N)
                if series.key not in named:
                    named.add(series.key)
                    yield series
                yield Point(series.key, event.tokens, loss)
            at = checkpoints.index(event.tokens // tokens_a_step(model, batch))
            place = (stage.widths.index(event.width), at, event.mixture, event.seed - first_seed)
            found[place] = event.losses
        yield found

    # 2. The small models.
    small = np.empty(0)
    for record in train(narrow, 0.0, 0):
        if isinstance(record, np.ndarray):
            small = record
        else:
            yield record
    read = tokens_a_step(model, batch) * steps * seeds
    tokens = read * len(widths) * len(fitted)

    # 3. What the laws say, before anything of it is measured.
    yield Progress(costs[0] / whole, tokens, "fitting the laws")
    means = small.mean(axis=3)  # over seeds: (width, checkpoint, mixture, domain)
    one_size = _fit_one_size(means[-1, -1], fitted, N[widths[-1]], D)
    yield _seal_held_out(one_size, held, fitted, names, widths[-1], N[widths[-1]], D)
    late = [step * tokens_a_step(model, batch) / BILLION for step in checkpoints[-FITTED_CHECKPOINTS:]]
    all_sizes = _fit_all_sizes(means[:, -FITTED_CHECKPOINTS:], fitted, [N[w] for w in widths], late)
    yield Progress(costs[0] / whole, tokens, "looking for the best mixtures")
    chosen = _choices(one_size, all_sizes, means[-1, -1], fitted, N[target], D, yours)
    larger = Stage("larger", [target], np.array([*fitted, *chosen["trained"]]), "training the larger model")
    end = _fit_all_sizes(means[:, -1:], fitted, [N[w] for w in widths], late[-1:])
    predicted = {
        "capacity and noise": all_sizes.predict(larger.mixtures, N[target], D),
        "capacity and noise, last checkpoint only": end.predict(larger.mixtures, N[target], D),
        "exponential law": one_size.exponential.predict(larger.mixtures),
    }
    yield _seal_larger(all_sizes, predicted, larger.mixtures, chosen, names, N, D, means[-1, -1])

    # 4. The held-out mixtures.
    for record in train(unseen, costs[0], tokens):
        if isinstance(record, np.ndarray):
            measured = record[0, -1].mean(axis=1)
            for law in ("capacity and noise", "exponential law"):
                said = one_size.predictions(held, N[widths[-1]], D)[law]
                yield from _against(f"held-out mixtures, {law}", said, measured)
        else:
            yield record
    tokens += read * len(held)

    # 5. The larger model.
    for record in train(larger, costs[0] + costs[1], tokens):
        if isinstance(record, np.ndarray):
            measured = record[0, -1].mean(axis=1)
            yield from _against("larger model, capacity and noise", predicted["capacity and noise"], measured)
            if K == 3 and on_the_map:
                yield from _on_the_map(larger.mixtures, measured.mean(axis=1))
        else:
            yield record
    yield Progress(1.0, tokens + read * len(larger.mixtures), "done")


# -- what the laws say


@dataclass(frozen=True)
class OneSize:
    """Every law fitted to one size and one number of tokens."""

    law: MixingFit
    exponential: ExponentialFit
    line: Any
    mean: np.ndarray

    def predictions(self, h: np.ndarray, N: float, D: float) -> dict[str, np.ndarray]:
        """Losses (n, K) of mixtures h (n, K), by law."""
        return {
            "capacity and noise": self.law.predict(h, N, D),
            "exponential law": self.exponential.predict(h),
            "straight line": self.line.predict(h),
            "mean of the fitted": np.tile(self.mean, (len(h), 1)),
        }


def _fit_one_size(losses: np.ndarray, h: np.ndarray, N: float, D: float) -> OneSize:
    return OneSize(
        fit_mixing(h, N, D, losses), fit_exponential(h, losses), fit_linear(h, losses), losses.mean(axis=0)
    )


def _fit_all_sizes(losses: np.ndarray, h: np.ndarray, N: list[float], D: list[float]) -> MixingFit:
    """The law fitted to losses (width, checkpoint, mixture, domain) at once."""
    K = h.shape[1]
    shape = losses.shape[:3]
    size = np.broadcast_to(np.array(N)[:, None, None], shape).ravel()
    data = np.broadcast_to(np.array(D)[:, None], shape).ravel()
    return fit_mixing(np.broadcast_to(h, (*shape, K)).reshape(-1, K), size, data, losses.reshape(-1, K))


def _choices(
    one_size: OneSize,
    all_sizes: MixingFit,
    small: np.ndarray,
    fitted: np.ndarray,
    N: float,
    D: float,
    yours: Sequence[float] | None,
) -> dict[str, Any]:
    """The mixtures that each way of choosing calls best for the larger model, and which have to be trained for it."""
    K = fitted.shape[1]
    best: dict[str, list[float]] = {
        "capacity and noise": best_of(lambda h: all_sizes.predict(h, N, D).mean(axis=1), K).tolist(),
        "exponential law": best_of(lambda h: one_size.exponential.predict(h).mean(axis=1), K).tolist(),
        "best of the small model": fitted[small.mean(axis=1).argmin()].tolist(),
        "uniform": [1 / K] * K,
    }
    if yours is not None:
        best["yours"] = list(yours)
    trained: list[list[float]] = []
    place: dict[str, int] = {}
    for name, h in best.items():
        known = [*fitted.tolist(), *trained]
        same = [i for i, other in enumerate(known) if np.allclose(h, other, atol=1e-6)]
        if not same:
            trained.append(h)
        place[name] = same[0] if same else len(known)
    return {"best": best, "place": place, "trained": trained}


def _seal_held_out(
    fits: OneSize,
    held: np.ndarray,
    fitted: np.ndarray,
    names: list[str],
    width: int,
    N: float,
    D: float,
) -> Prediction:
    predicted = fits.predictions(held, N, D)
    ends = [float(min(p.min() for p in predicted.values())), float(max(p.max() for p in predicted.values()))]
    return Prediction(
        name="held-out-mixtures",
        figure=AGAINST,
        law="capacity and noise, one size",
        coefficients=_flat(fits.law.coefficients, names),
        curves=[PredictedCurve("diagonal", "measured = predicted", ends, ends)],
        note=(
            f"Width {width} at the end of the run, {len(fitted)} mixtures fitted. {fits.law.note} No held-out mixture "
            "had been trained."
        ),
        details={
            "domains": names,
            "width": width,
            "mixtures": held.tolist(),
            "predicted": {law: losses.tolist() for law, losses in predicted.items()},
            "fitted_points": fits.law.points,
            "undetermined": fits.law.undetermined,
            "starts": list(fits.law.starts),
        },
    )


def _seal_larger(
    fit: MixingFit,
    predicted: dict[str, np.ndarray],
    mixtures: np.ndarray,
    chosen: dict[str, Any],
    names: list[str],
    N: dict[int, float],
    D: float,
    small: np.ndarray,
) -> Prediction:
    curves = []
    if len(names) == 3:
        for name in ("capacity and noise", "exponential law"):
            x, y = to_plane(np.array(chosen["best"][name]))
            label = f"best by the {name}" if name.endswith("law") else f"best by {name}"
            curves.append(PredictedCurve(name, label, [float(x)], [float(y)], style="dots"))
    *widths, target = N
    return Prediction(
        name="larger-model",
        figure=MAP,
        law="capacity and noise, all sizes",
        coefficients=_flat(fit.coefficients, names),
        curves=curves,
        note=(
            f"Fitted to widths {', '.join(map(str, widths))} at the last {FITTED_CHECKPOINTS} checkpoints. "
            f"{fit.note} Width {target}, {N[target] / N[widths[-1]]:.1f} times as large, had not been trained."
        ),
        details={
            "domains": names,
            "target": target,
            "N": {str(width): size for width, size in N.items()},
            "D": D,
            "mixtures": mixtures.tolist(),
            "place": chosen["place"],
            "predicted": {law: losses.tolist() for law, losses in predicted.items()},
            "small": small.tolist(),
            "undetermined": fit.undetermined,
            "starts": list(fit.starts),
        },
    )


def _flat(coefficients: Coefficients, names: list[str]) -> dict[str, float]:
    flat = {
        f"{symbol} {name}": float(value)
        for symbol, values in zip("bcaAE", coefficients[:5], strict=True)
        for name, value in zip(names, values, strict=True)  # type: ignore[arg-type]
    }
    return {**flat, "H": coefficients.H}


# -- what is drawn


def _series(stage: Stage, event: DomainLosses, domain: int, names: list[str], N: dict[int, float]) -> Series:
    h = stage.mixtures[event.mixture]
    return Series(
        key=f"{stage.role} width {event.width} mixture {event.mixture + 1} seed {event.seed}: {names[domain]}",
        figure=LOSSES,
        label=names[domain],
        labels={
            "role": stage.role,
            "width": event.width,
            "N": N[event.width],
            "mixture": event.mixture,
            "h": ", ".join(f"{weight:.3f}" for weight in h),
            "weight": float(h[domain]),
            "domain": domain,
            "seed": event.seed,
        },
    )


def _against(label: str, predicted: np.ndarray, measured: np.ndarray) -> Iterator[Record]:
    yield Series(label, AGAINST, label)
    for x, y in zip(predicted.ravel().tolist(), measured.ravel().tolist(), strict=True):
        yield Point(label, x, y)


def _on_the_map(mixtures: np.ndarray, means: np.ndarray) -> Iterator[Record]:
    """One series a mixture, since its colour tells its mean loss."""
    for number, (h, mean) in enumerate(zip(mixtures, means.tolist(), strict=True), 1):
        x, y = to_plane(h)
        weights = ", ".join(f"{weight:.2f}" for weight in h)
        key = f"measured {number}: {weights}"
        yield Series(key, MAP, "measured", {"value": mean, "mixture": number - 1})
        yield Point(key, float(x), float(y))


# -- checks


def _cost(model: str, stage: Stage, vocabulary: int) -> float:
    """About what a step of a stage costs, in any unit."""
    kind = model_class(model)
    flops = sum(kind(width, [0], vocabulary).forward_flops() + 10_000 for width in stage.widths)
    return float(flops * len(stage.mixtures))


def _check(
    model: str,
    widths: Sequence[int],
    target: int,
    steps: int,
    batch: int,
    seeds: int,
    first_seed: int,
    held_out: int,
) -> None:
    """BadInput for arguments that make no sense together."""
    model_class(model)
    if len(widths) < 2:
        raise BadInput("One width says nothing about a larger one; give at least two, such as 16, 32.")
    if widths[0] < 1 or any(b <= a for a, b in pairwise(widths)):
        raise BadInput(
            f"The widths {', '.join(map(str, widths))} do not increase; give them from small to large."
        )
    if target <= widths[-1]:
        raise BadInput(f"The larger width {target} is not larger than the largest fitted one, {widths[-1]}.")
    for name, value, least in (
        ("seeds", seeds, 1),
        ("batch", batch, 1),
        ("held_out", held_out, 2),
        ("first_seed", first_seed, 0),
        ("steps", steps, 8 * FIRST_SHARE),
    ):
        if value < least:
            raise BadInput(f"{name} = {value} is too few; give at least {least}.")
