"""What the training says, as records: curves, what the probe found, differences from AdamW, and sealed predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from explorer.exhibits.mars_gamma.law import similarity_optimum
from explorer.exhibits.mars_gamma.order import order_below_edge, place, ranks, similarity_order
from explorer.exhibits.mars_gamma.stability import edge, gamma_at_edge
from explorer.records import Label, Point, PredictedCurve, Prediction, Progress, Record, Series
from explorer.training.corrections import Clipped, Loss, Member, Probed, Recipe, Tick

LEVELS = ("high", "low")


class Account:
    """Turns what training tells into records, and keeps what comparing needs."""

    def __init__(
        self, recipe: Recipe, rates: dict[str, float], gammas: Sequence[float], seeds: Sequence[int]
    ) -> None:
        self.recipe, self.rates, self.gammas, self.seeds = recipe, rates, gammas, seeds
        self.levels = {rate: level for level, rate in rates.items()}
        self.pass_flops = recipe.flops_a_pass()
        self.final: dict[Member, float] = {}
        self.clipped: dict[Member, float] = {}
        self.probed: list[Probed] = []
        self.tokens = self._before = 0

    def declare(self, member: Member) -> Iterator[Record]:
        """A member's loss on the axes of characters and, at the high rate, of FLOPs."""
        level = self.levels[member.rate]
        yield self._loss_series(member, f"loss_{level}")
        if level == "high":
            yield self._loss_series(member, "loss_by_flops")

    def declare_summaries(self) -> Iterator[Record]:
        for level in LEVELS:
            rate = self._rate(level)
            for seed in self.seeds:
                labels: dict[str, Label] = {"level": level, "seed": seed}
                for figure in ("difference", "order", "clipped"):
                    yield Series(_key(figure, level, seed), figure, rate, labels)
                plain = {**labels, "gamma": 0.0}
                yield Series(_key("recommended", level, seed), "recommended", rate, plain)
                yield Series(_key("curvature γ=0", level, seed), "sharpness", f"AdamW, {rate}", plain)
            first: dict[str, Label] = {"level": level, "seed": self.seeds[0]}
            key = _key("curvature γ=1", level, self.seeds[0])
            yield Series(key, "sharpness", f"MVR, {rate}", {**first, "gamma": 1.0})
            for quantity, name in (("square", "||E Δ||²"), ("variance", "Var Δ")):
                key = _key(quantity, level, self.seeds[0])
                yield Series(key, "probe", f"{name}, {rate}", {**first, "quantity": quantity})

    def _loss_series(self, member: Member, figure: str) -> Series:
        name = _name(member.gamma) if member.form != "approximate" else f"γ = {member.gamma:g}, one gradient"
        return Series(
            _member_key(member, figure),
            figure,
            name,
            {
                "gamma": member.gamma,
                "form": "approximate" if member.form == "approximate" else "exact",
                "level": self.levels[member.rate],
                "rate": member.rate,
                "seed": member.seed,
                "width": self.recipe.width,
                "last": self.recipe.steps * self.recipe.tokens_a_step,
            },
        )

    def _rate(self, level: str) -> str:
        return _rate(self.rates[level])

    def note(
        self, event: Loss | Probed | Clipped | Tick, begin: float, end: float, doing: str
    ) -> Iterator[Record]:
        """The records of one event of a part that makes up `begin` to `end` of the work."""
        if isinstance(event, Tick):
            self.tokens = self._before + event.tokens
            yield Progress(begin + event.done * (end - begin), self.tokens, doing)
        elif isinstance(event, Clipped):
            self.clipped[event.member] = event.share
            self._before = self.tokens
        elif isinstance(event, Loss):
            self.final[event.member] = event.loss
            tokens = event.step * self.recipe.tokens_a_step
            level = self.levels[event.member.rate]
            yield Point(_member_key(event.member, f"loss_{level}"), tokens, event.loss)
            if level == "high":
                flops = event.backward_passes * self.pass_flops
                yield Point(_member_key(event.member, "loss_by_flops"), flops, event.loss)
        else:
            yield from self._note_probe(event)

    def _note_probe(self, event: Probed) -> Iterator[Record]:
        member, level = event.member, self.levels[event.member.rate]
        tokens = event.step * self.recipe.tokens_a_step
        if event.step_curvature > 0:  # a negative one has no place on a log axis, and no edge
            yield Point(
                _key(f"curvature γ={member.gamma:g}", level, member.seed), tokens, event.step_curvature
            )
        if member.gamma > 0:
            return
        self.probed.append(event)
        yield Point(_key("recommended", level, member.seed), tokens, _moments([event])["gamma_sim"])
        if member.seed == self.seeds[0]:
            moments = {"square": event.difference_square, "variance": event.difference_variance}
            for quantity, value in moments.items():
                if value > 0:
                    yield Point(_key(quantity, level, member.seed), tokens, value)

    def summaries(self) -> Iterator[Record]:
        """For each rate and seed: losses less AdamW's, their ranks, and the share of clipped tensors."""
        for level in LEVELS:
            for seed in self.seeds:
                own = {
                    member.gamma: loss
                    for member, loss in self.final.items()
                    if member.rate == self.rates[level]
                    and member.seed == seed
                    and member.form != "approximate"
                }
                x = place(np.array(self.gammas)).tolist()
                losses = [own[gamma] for gamma in self.gammas]
                for at, gamma, loss, rank in zip(x, self.gammas, losses, ranks(losses), strict=True):
                    if gamma > 0:
                        yield Point(_key("difference", level, seed), at, loss - own[0.0])
                    yield Point(_key("order", level, seed), at, float(rank))
        for member, share in self.clipped.items():
            if member.form != "approximate":
                key = _key("clipped", self.levels[member.rate], member.seed)
                yield Point(key, float(place(member.gamma)), share)

    def facts(self, level: str) -> dict[str, Any]:
        """What the probe of AdamW says at one rate.

        L^2 and delta^2 are means over its probes and seeds; eta h is the largest of a run's probes, since a step that
        is too long once is too long, and the median over seeds.
        """
        mine = [one for one in self.probed if self.levels[one.member.rate] == level]
        by_seed = [[one for one in mine if one.member.seed == seed] for seed in self.seeds]
        eta_h = [max(one.step_curvature for one in own) for own in by_seed]
        steps = sorted({one.step for one in mine})
        return {
            "rate": self.rates[level],
            **_moments(mine),
            "gamma_sim_by_seed": [_moments(own)["gamma_sim"] for own in by_seed],
            "eta_h": float(np.median(eta_h)),
            "eta_h_by_seed": eta_h,
            "probes": [
                {
                    "tokens": step * self.recipe.tokens_a_step,
                    **_moments([one for one in mine if one.step == step]),
                    "eta_h": float(np.median([one.step_curvature for one in mine if one.step == step])),
                }
                for step in steps
            ],
        }


def _moments(probed: Sequence[Probed]) -> dict[str, float]:
    """L, delta and sigma over some probes, roots of mean squares, and gamma_sim; 0 where noise hides the difference."""

    def root(squares: Iterable[float]) -> float:
        return math.sqrt(max(0.0, float(np.mean(list(squares)))))

    L = root(one.difference_square / one.distance**2 for one in probed)
    delta = root(one.difference_variance / one.distance**2 for one in probed)
    return {
        "L": L,
        "delta": delta,
        "sigma": root(one.noise for one in probed),
        "gamma_sim": float(similarity_optimum(L, delta)) if L > 0 else 0.0,
    }


def sealed_edges(gammas: Sequence[float], b1: float, recipe: Recipe) -> Prediction:
    """Where each gamma's stability ends, known before anything is trained."""
    x = [float(recipe.tokens_a_step), float(recipe.steps * recipe.tokens_a_step)]
    return Prediction(
        name="edges",
        figure="sharpness",
        law="stability edge",
        coefficients={"b1": b1},
        curves=[
            PredictedCurve(f"edge {gamma:g}", _name(gamma), x, [float(edge(gamma, b1))] * 2)
            for gamma in gammas
        ],
        note="Largest stable rate × curvature of each γ, 2 (1 + b1) / (1 - b1 + 2 γ b1), from the algorithm alone.",
    )


def sealed_orders(account: Account, gammas: Sequence[float], b1: float, corpus: str) -> Prediction:
    """The order of final losses that each theory gives, from the probe of AdamW."""
    x = place(np.array(gammas)).tolist()
    facts = {level: account.facts(level) for level in LEVELS}
    curves, orders = [], {}
    for level in LEVELS:
        one = facts[level]
        both = {
            "similarity": similarity_order(gammas, one["L"], one["delta"]),
            "edge": order_below_edge(gammas, one["L"], one["delta"], one["eta_h"], b1),
        }
        orders[level] = {name: order.tolist() for name, order in both.items()}
        rate = _rate(one["rate"])  # a label of its own would get a colour of its own
        curves.append(PredictedCurve(f"edge {level}", rate, x, orders[level]["edge"], style="dashed"))
        curves.append(
            PredictedCurve(f"similarity {level}", rate, x, orders[level]["similarity"], style="dots")
        )
    above = {
        level: [gamma for gamma in gammas if float(edge(gamma, b1)) < facts[level]["eta_h"]]
        for level in LEVELS
    }
    told = "; ".join(
        f"at the rate {facts[level]['rate']:.3g} L = {facts[level]['L']:.3g}, δ = {facts[level]['delta']:.3g}, "
        f"γ_sim = {facts[level]['gamma_sim']:.2f}, rate × curvature {facts[level]['eta_h']:.3g}, above the edge: "
        + (", ".join(f"γ = {gamma:g}" for gamma in above[level]) or "none")
        for level in LEVELS
    )
    return Prediction(
        name="orders",
        figure="order",
        law="gamma-similarity and stability edge",
        coefficients={
            f"{name} {level}": facts[level][name]
            for level in LEVELS
            for name in ("L", "delta", "gamma_sim", "eta_h")
        },
        curves=curves,
        note=f"From AdamW alone, before any γ above 0 took a step: {told}.",
        details={
            "gammas": list(gammas),
            "b1": b1,
            "corpus": corpus,
            "probed": facts,
            "orders": orders,
            "above_edge": above,
            "gamma_at_edge": {
                level: float(gamma_at_edge(facts[level]["eta_h"], b1))
                for level in LEVELS
                if facts[level]["eta_h"] > 0
            },
        },
    )


def _name(gamma: float) -> str:
    return {0.0: "AdamW, γ = 0", 1.0: "MVR, γ = 1"}.get(gamma, f"γ = {gamma:g}")


def _rate(rate: float) -> str:
    return f"rate {rate:.3g}"


def _key(what: str, level: str, seed: int) -> str:
    return f"{what} {level} seed {seed}"


def _member_key(member: Member, figure: str) -> str:
    return f"{figure} {member.form} γ={member.gamma:g} seed {member.seed}"
