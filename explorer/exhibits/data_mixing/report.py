"""What a sweep's stored points say: errors of the sealed predictions, regret of the chosen mixtures, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.agreement import paired_difference
from explorer.exhibits import Comparison, Table
from explorer.exhibits.data_mixing.design import quadratic_optimum
from explorer.records import Measured, Prediction

LAW = "capacity and noise"
MEAN = "mean of the fitted"
ACTIVE = 0.1
NOTHING = Comparison(math.nan, None, 0, 0, "Not every mixture was measured to the end.")


def final_losses(measured: Measured, role: str, mixtures: int, domains: int) -> np.ndarray:
    """Last measured losses (seed, mixture, domain) of the widest model of a role; only seeds that are complete.

    All models of a role are measured at the same tokens; one that was stopped before the last does not count.
    """
    found: dict[int, np.ndarray] = {}
    series = list(measured.where(role=role))
    widest = max((one.labels["width"] for one, _, _ in series), default=0)
    last = max((float(x[-1]) for _, x, _ in series if len(x)), default=0.0)
    for one, x, y in series:
        if one.labels["width"] != widest or not len(x) or float(x[-1]) < last:
            continue
        table = found.setdefault(int(one.labels["seed"]), np.full((mixtures, domains), np.nan))
        table[int(one.labels["mixture"]), int(one.labels["domain"])] = float(y[-1])
    complete = [table for _, table in sorted(found.items()) if np.isfinite(table).all()]
    return np.array(complete).reshape(-1, mixtures, domains)


def _held_out(measured: Measured, sealed: Prediction) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Losses (seed, mixture, domain), the mixtures, and what every law predicted, (mixture, domain)."""
    h = np.array(sealed.details["mixtures"])
    predicted = {law: np.array(losses) for law, losses in sealed.details["predicted"].items()}
    return final_losses(measured, "held out", *h.shape), h, predicted


def relative_error(predicted: np.ndarray, measured: np.ndarray) -> float:
    return float(np.mean(np.abs(predicted / measured - 1)))


def held_out_error(measured: Measured, sealed: Prediction) -> Comparison:
    """Mean relative error of the sealed losses of the held-out mixtures."""
    losses, h, predicted = _held_out(measured, sealed)
    if not len(losses):
        return NOTHING
    mean = losses.mean(axis=0)
    errors = {law: relative_error(one, mean) for law, one in predicted.items()}
    by_seed = [relative_error(predicted[LAW], one) for one in losses]
    return Comparison(
        value=errors.pop(LAW),
        interval=_around(relative_error(predicted[LAW], mean), by_seed),
        seeds=len(losses),
        points=losses.size,
        scope=_scope(sealed, len(h)),
        baselines=errors,
    )


def held_out_ratio(measured: Measured, sealed: Prediction) -> Comparison:
    """The law's error over that of each domain's mean loss."""
    losses, h, predicted = _held_out(measured, sealed)
    if not len(losses):
        return NOTHING
    mean = losses.mean(axis=0)
    base = relative_error(predicted[MEAN], mean)
    ratios = {law: relative_error(one, mean) / base for law, one in predicted.items() if law != MEAN}
    by_seed = [relative_error(predicted[LAW], one) / relative_error(predicted[MEAN], one) for one in losses]
    value = ratios.pop(LAW)
    return Comparison(
        value=value,
        interval=_around(value, by_seed),
        seeds=len(losses),
        points=losses.size,
        scope=f"The mean of the fitted mixtures has an error of {base:.2%}. {_scope(sealed, len(h))}",
        baselines=ratios,
    )


def regret(measured: Measured, sealed: Prediction) -> Comparison:
    """Mean loss of the mixture that the law calls best, less that of the best mixture tried, seed by seed."""
    details = sealed.details
    h = np.array(details["mixtures"])
    losses = final_losses(measured, "larger", *h.shape)
    if not len(losses):
        return NOTHING
    means = losses.mean(axis=2)  # (seed, mixture)
    best = int(means.mean(axis=0).argmin())
    found = {name: paired_difference(means[:, at], means[:, best]) for name, at in details["place"].items()}
    own = found.pop(LAW)
    return Comparison(
        value=own.mean,
        interval=(0.0, 0.0) if details["place"][LAW] == best else own.interval,
        seeds=len(means),
        points=means.size,
        scope=(
            f"Width {details['target']}, {len(h)} mixtures of {', '.join(details['domains'])}; the best tried is "
            f"{_weights(h[best])}, the law's choice {_weights(h[details['place'][LAW]])}."
        ),
        baselines={name: one.mean for name, one in found.items()},
    )


def tables(measured: Measured, sealed: Mapping[str, Prediction]) -> list[Table]:
    """Errors by law, mixtures by choice, and the level at the larger size; those for which there are points."""
    made = []
    if "held-out-mixtures" in sealed:
        made += _error_table(measured, sealed["held-out-mixtures"])
    if "larger-model" in sealed:
        made += _choice_tables(measured, sealed["larger-model"])
    return made


def _error_table(measured: Measured, sealed: Prediction) -> list[Table]:
    losses, h, predicted = _held_out(measured, sealed)
    if not len(losses):
        return []
    mean, active = losses.mean(axis=0), h >= ACTIVE
    noise = losses.std(axis=0, ddof=1).mean() if len(losses) > 1 else math.nan
    rows = []
    for law, one in sorted(predicted.items()):
        error = np.abs(one / mean - 1)
        rows.append((law, float(error.mean()), float(error[active].mean()), float(error.max())))
    return [
        Table(
            "Errors over the held-out mixtures",
            ("law", "mean relative error", f"where the weight is at least {ACTIVE:g}", "largest"),
            tuple(rows),
            f"{sealed.note} Seeds of one mixture differ by {noise:.4f} nats (standard deviation).",
        )
    ]


def _choice_tables(measured: Measured, sealed: Prediction) -> list[Table]:
    details = sealed.details
    h = np.array(details["mixtures"])
    losses = final_losses(measured, "larger", *h.shape)
    if not len(losses):
        return []
    means = losses.mean(axis=2)
    overall = means.mean(axis=0)
    best = int(overall.argmin())
    optimum = quadratic_optimum(h, overall)
    places = {LAW: details["place"][LAW], **details["place"], "best tried": best}
    rows: list[tuple[Any, ...]] = []
    for name, at in places.items():
        away = float(np.abs(h[at] - optimum).sum()) if optimum is not None else math.nan
        difference = paired_difference(means[:, at], means[:, best])
        error = 0.0 if at == best else difference.error
        rows.append((name, _weights(h[at]), float(overall[at]), difference.mean, error, away))
    where = (
        ""
        if optimum is None
        else f" The quadratic through all measured means is least at {_weights(optimum)}."
    )
    first = Table(
        "Mixtures for the larger model",
        ("chosen by", ", ".join(details["domains"]), "mean loss", "above the best", "± seeds", "distance"),
        tuple(rows),
        f"Distance: sum of the weights' differences to the minimum of a quadratic.{where}",
    )
    small = np.array(details["small"]).mean(axis=1)
    level = losses.mean(axis=0)
    rows = [
        (
            law,
            rank_correlation(np.array(one).mean(axis=1), overall),
            relative_error(np.array(one), level),
            float((np.array(one) - level).mean()),
        )
        for law, one in sorted(details["predicted"].items())
    ]
    rows.append(
        ("the small model, as measured", rank_correlation(small, overall[: len(small)]), math.nan, math.nan)
    )
    second = Table(
        "The larger model against the sealed losses",
        ("predicted by", "rank correlation of mean loss", "mean relative error", "bias, nats"),
        tuple(rows),
        f"{sealed.note} The exponential law and the small model know nothing of size: only their ranks count.",
    )
    return [first, second]


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's, without ties."""
    ranks = np.array([np.argsort(np.argsort(values)) for values in (one, other)], float)
    return float(np.corrcoef(ranks)[0, 1])


def _around(value: float, by_seed: list[float], coverage: float = 0.9) -> tuple[float, float]:
    """Student's interval of the seeds' own values, laid around the value of their mean losses."""
    spread = paired_difference(by_seed, [0.0] * len(by_seed), coverage)
    reach = spread.interval[1] - spread.mean
    return (max(value - reach, 0.0), value + reach)


def _scope(sealed: Prediction, count: int) -> str:
    return (
        f"Width {sealed.details['width']} at the end of its run, {count} held-out mixtures of "
        f"{', '.join(sealed.details['domains'])}."
    )


def _weights(h: np.ndarray) -> str:
    return ", ".join(f"{weight:.2f}" for weight in h)
