"""What a run measured, in tables: losses and differences, the two theories, the probe, the chains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.agreement import paired_difference
from explorer.exhibits import Table
from explorer.exhibits.mars_gamma.order import parabola_argmin, place, ranks, spearman
from explorer.exhibits.mars_gamma.outcome import Outcome, last_values
from explorer.records import Measured

LEVELS = {"high": "high rate", "low": "a tenth of it"}


def loss_table(measured: Measured, outcomes: Mapping[str, Outcome]) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for level, found in outcomes.items():
        shares = last_values(measured, "clipped", level)
        exact = [(gamma, f"{gamma:g}", found.final[k], found.best[k]) for k, gamma in enumerate(found.gammas)]
        other = Outcome(measured, level, "approximate")
        same = other.seeds == found.seeds
        exact += [
            (math.nan, f"{gamma:g}, one gradient", other.final[k], other.best[k])
            for k, gamma in enumerate(other.gammas)
            if same
        ]
        for gamma, name, final, best in exact:
            last = paired_difference(final.tolist(), found.at(0.0))
            least = paired_difference(best.tolist(), found.best[0].tolist())
            share = shares.get(float(place(gamma)), []) if math.isfinite(gamma) else []
            clipped = f"{np.mean(share):.1%}" if share else "–"
            rows.append(
                (
                    LEVELS[level],
                    name,
                    f"{final.mean():.4f}",
                    *_pm(last.mean, last.error, gamma == 0),
                    *_pm(least.mean, least.error, gamma == 0),
                    "–" if gamma == 0 else f"{last.wins} of {last.seeds}",
                    clipped,
                )
            )
    return Table(
        "Held-out loss, and its difference from AdamW's",
        (
            "rate",
            "γ",
            "final",
            "final − AdamW",
            "± s.e.",
            "best − AdamW",
            "± s.e.",
            "seeds below AdamW",
            "clipped",
        ),
        tuple(rows),
        "Nats a character, paired seed by seed. Best: the least of a curve's measurements. Clipped: share of (step, "
        "tensor) pairs.",
    )


def _pm(mean: float, error: float, itself: bool) -> tuple[str, str]:
    return ("–", "–") if itself else (f"{mean:+.4f}", f"{error:.4f}" if math.isfinite(error) else "–")


def theory_table(outcomes: Mapping[str, Outcome], details: Mapping[str, Any]) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for level, found in outcomes.items():
        mean = found.final.mean(axis=1)
        orders, probed = details["orders"][level], details["probed"][level]
        alone, below = (spearman(orders[name], mean) for name in ("similarity", "edge"))
        verdict = "both alike" if alone == below else "similarity alone" if alone > below else "with the edge"
        rows.append(
            (
                LEVELS[level],
                _listed(found.gammas, ranks(mean)),
                _listed(found.gammas, orders["similarity"]),
                f"{alone:.2f}",
                _listed(found.gammas, orders["edge"]),
                f"{below:.2f}",
                verdict,
                f"{parabola_argmin(found.gammas, mean.tolist()):.2g}",
                f"{probed['gamma_sim']:.2g}",
                f"{details['gamma_at_edge'].get(level, math.inf):.2g}",
            )
        )
    return Table(
        "Which theory explains the order",
        (
            "rate",
            "measured, best γ first",
            "similarity alone",
            "rank correlation",
            "below the edge",
            "rank correlation",
            "closer",
            "γ of the parabola",
            "γ_sim",
            "γ at the edge",
        ),
        tuple(rows),
        "Measured: means over seeds. Parabola: through the least loss and its neighbours in ln γ. γ at the edge above "
        "1: all γ are stable.",
    )


def _listed(gammas: list[float], places: np.ndarray | list[float]) -> str:
    return ", ".join(f"{gammas[k]:g}" for k in np.argsort(np.asarray(places, float), kind="stable"))


def probe_table(details: Mapping[str, Any]) -> Table:
    rows = [
        (
            LEVELS[level],
            one["tokens"],
            *(f"{one[name]:.3g}" for name in ("L", "delta", "sigma", "gamma_sim", "eta_h")),
        )
        for level in LEVELS
        for one in details["probed"][level]["probes"]
    ]
    return Table(
        "What the probe of AdamW found",
        ("rate", "characters", "L", "δ", "σ", "γ_sim", "rate × curvature"),
        tuple(rows),
        "Of the training batch; means over seeds of squares, medians for the curvature. The sealed order takes the "
        "largest rate × curvature of each seed.",
    )


def chain_table(measured: Measured) -> list[Table]:
    rows = []
    for series, _, y in measured:
        if series.figure == "spread" and len(y):
            exact, error = float(series.labels["exact"]), float(series.labels["error"])
            value = float(y[0])
            rows.append(
                (
                    float(series.labels["noise"]),
                    float(series.labels["gamma"]),
                    f"{exact:.5f}",
                    f"{value:.5f}",
                    f"{value / exact:.4f}",
                    f"{(value - exact) / error:+.2f}",
                )
            )
    columns = ("noise", "γ", "exact E x²", "measured", "ratio", "standard errors off")
    return [Table("Chains against the recursion", columns, tuple(rows))] if rows else []
