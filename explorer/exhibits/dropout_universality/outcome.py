"""What a race of schedules found: paired differences, its regime in words, and the table of all of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.agreement import Paired, paired_difference
from explorer.exhibits import Comparison, Table
from explorer.exhibits.dropout_universality.ranking import sign_test
from explorer.records import Measured, Prediction

OVERFITTED = 0.25
"""A training loss below this share of the test loss is called over-fitted."""


def ends(measured: Measured) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Last and least test loss of every schedule, one number a seed, for the seeds that all schedules have."""
    last: dict[str, dict[Any, float]] = {}
    least: dict[str, dict[Any, float]] = {}
    for series, _, y in measured.where(measure="test loss"):
        if len(y):
            name, seed = str(series.labels["schedule"]), series.labels["seed"]
            last.setdefault(name, {})[seed] = float(y[-1])
            least.setdefault(name, {})[seed] = float(y.min())
    shared = set.intersection(*(set(one) for one in last.values())) if last else set()

    def ordered(found: dict[str, dict[Any, float]]) -> dict[str, np.ndarray]:
        kept = {name: np.array([one[seed] for seed in sorted(shared)]) for name, one in found.items()}
        return {name: one for name, one in kept.items() if len(one)}

    return ordered(last), ordered(least)


def trained(measured: Measured) -> dict[str, float]:
    """Last training loss of every schedule, a mean over seeds."""
    found = measured.where(measure="mean training loss")
    return {str(series.labels["schedule"]): float(y[-1]) for series, _, y in found if len(y)}


def relative(a: np.ndarray, b: np.ndarray) -> Paired:
    """How much a is above b, seed by seed, in %."""
    return paired_difference((100 * (a / b - 1)).tolist(), [0.0] * len(a))


def back_against_constant(measured: Measured) -> Comparison:
    """How much the back half ends above constant dropout, in %, with Student's interval over seeds."""
    finals, bests = ends(measured)
    if not {"back half", "constant"} <= set(finals):
        return Comparison(math.nan, None, 0, 0, "Not all schedules were trained.")
    late, early = (relative(one["back half"], one["constant"]) for one in (finals, bests))
    worse = late.seeds - late.wins
    return Comparison(
        late.mean,
        late.interval,
        late.seeds,
        2 * late.seeds,
        f"Worse in {worse} of {late.seeds} seeds; sign test p = {sign_test(worse, late.seeds):.3g}. At the best epoch "
        f"{early.mean:+.1f} ± {early.error:.1f} %. {regime(measured)}",
    )


def regime(measured: Measured) -> str:
    """In words and numbers, whether the networks with constant dropout were over-fitted."""
    finals, bests = ends(measured)
    learnt = trained(measured)
    if not ("constant" in finals and "constant" in learnt):
        return ""
    test, train = float(finals["constant"].mean()), learnt["constant"]
    rise = relative(finals["constant"], bests["constant"]).mean
    word = "Over-fitted" if train < OVERFITTED * test else "Not over-fitted"
    return (
        f"{word}: constant dropout ended at a training loss of {train:.3g} and a test loss of {test:.3g}, "
        f"{rise:.0f} % above its lowest."
    )


def tables(measured: Measured, sealed: Mapping[str, Prediction]) -> list[Table]:
    """Final and early-stopped losses of every schedule, and their paired differences from constant dropout."""
    finals, bests = ends(measured)
    if "constant" not in finals:
        return []
    learnt = trained(measured)
    reach = sealed["order"].details["reach"] if "order" in sealed else {}
    rows = []
    for name, final in finals.items():
        late, early = (relative(one[name], one["constant"]) for one in (finals, bests))
        itself = name == "constant"
        rows.append(
            (
                name,
                f"{reach[name]:.3f}" if name in reach else "",
                float(final.mean()),
                "" if itself else f"{late.mean:+.1f} ± {late.error:.1f}",
                "" if itself else f"{late.wins} of {late.seeds}",
                "" if itself else f"{sign_test(late.wins, late.seeds):.2g}",
                float(bests[name].mean()),
                "" if itself else f"{early.mean:+.1f} ± {early.error:.1f}",
                learnt.get(name, math.nan),
            )
        )
    return [
        Table(
            "Test loss at the last epoch, and at the best one",
            (
                "schedule",
                "V",
                "final loss",
                "vs constant, %",
                "lower in seeds",
                "sign test p",
                "best-epoch loss",
                "vs constant, %",
                "training loss",
            ),
            tuple(rows),
            f"{regime(measured)} Differences are paired by seed, with their standard error. The best epoch is "
            "chosen on the test images themselves, for every schedule alike. The published gains of 18 to 35 % are "
            "of the last epoch; early-stopped, the published runs gain 1.4 to 2.7 %.",
        )
    ]
