"""MARS: the scale gamma of its gradient correction, from momentum to variance reduction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from explorer.agreement import paired_difference, rms_interval
from explorer.errors import BadInput
from explorer.exhibits import (
    Axis,
    Choice,
    Comparison,
    Count,
    Curve,
    Exhibit,
    Paper,
    Quantity,
    Readout,
    Surface,
    Table,
    Twin,
    agreement,
    figure,
    trial,
)
from explorer.exhibits.mars_gamma import law, stability
from explorer.exhibits.mars_gamma.order import (
    ZERO_AT,
    order_below_edge,
    place,
    similarity_order,
    spearman,
)
from explorer.exhibits.mars_gamma.outcome import Outcome, log_factor
from explorer.exhibits.mars_gamma.sizes import CHAIN_GAMMAS, CHAIN_NOISES, CHAINS, GAMMAS, SIZES, with_gamma
from explorer.exhibits.mars_gamma.tables import chain_table, loss_table, probe_table, theory_table
from explorer.records import Measured, Prediction

SIMILARITY = {"gamma", "L", "delta", "B_mini"}
BOUNDS = SIMILARITY | {"sigma", "eps", "Delta0"}
GAMMA = Axis("γ, share of the correction kept", scale="log", low=8e-4, high=1.25)
CHARACTERS = Axis("training characters")
LOSS = Axis("held-out loss", "nats/character")
GRID = np.concatenate([[0.0], np.geomspace(ZERO_AT, 1, 121)])
TEXTS = ("prose", "code")
CLOSE = 0.01  # T within 1 % of the least is as good


class MarsGamma(Exhibit):
    """MARS: how much of the variance-reduction correction to keep?

    The correction is gamma b1 / (1 - b1) times the change of the gradient on one and the same minibatch.
    """

    slug = "mars-gamma"
    rank = 1
    paper = Paper(
        title="Understanding MARS: When Scaling Momentum Correction Provably Helps",
        authors="Shulgin, Gadaev, Khirirat, Richtarik; algorithm: Yuan et al., MARS",
        venue="ICML 2026; ICML 2025",
        arxiv="2411.10438 (algorithm)",
    )
    presets = {
        "AdamW: γ = 0": {"gamma": 0.0, "b1": 0.95, "b2": 0.99},
        "MARS: γ = 0.025 · arXiv 2411.10438": {"gamma": 0.025, "b1": 0.95, "b2": 0.99},
        "MVR (STORM): γ = 1": {"gamma": 1.0, "b1": 0.95, "b2": 0.99},
        "CIFAR-10 network: best fixed γ": {"gamma": 0.25},
        "CIFAR-10 network: median of the measured γ": {"gamma": 0.44},
        "124M model: AdamW's decays": {"gamma": 0.0, "b1": 0.8, "b2": 0.999},
        "124M model: γ = 0.01": {"gamma": 0.01, "b1": 0.95, "b2": 0.99},
        "124M model: γ = 0.1": {"gamma": 0.1, "b1": 0.95, "b2": 0.99},
        **{
            f"Speed-up map: L = {L:g}, σ = {sigma:g}": {"L": L, "sigma": sigma, "Delta0": 1.0}
            for L in (0.1, 1.0, 10.0)
            for sigma in (1e-4, 1e-2, 1.0)
        },
        "Coordinates, n = 10: γ_sim = 1/10": {"L": 1.0, "delta": 3.0, "gamma": 0.1, "B_mini": 1},
        "Quiet differences: δ = L": {"L": 1.0, "delta": 1.0, "B_mini": 1},
    }

    gamma = Quantity(
        0.025, bounds=(0, 1), zero_below=ZERO_AT, label="share of the correction kept", scale="log"
    )
    b1 = Quantity(0.95, bounds=(0.8, 0.99), label="decay of the first moment", step=0.005)
    L = Quantity(1.0, bounds=(0.1, 100), label="smoothness", unit="1/length", scale="log")
    delta = Quantity(
        20.0,
        bounds=(0.1, 1000),
        label="similarity constant δ of one sequence",
        unit="1/length",
        scale="log",
        doc="Standard deviation of the gradient's change, a unit of distance; a batch divides it by its root.",
    )
    sigma = Quantity(1.0, bounds=(1e-4, 10), label="gradient noise σ of one sequence", scale="log")
    eps = Quantity(0.5, bounds=(0.01, 1), label="wanted gradient norm ε", scale="log")
    Delta0 = Quantity(1.0, bounds=(0.1, 10), label="f at the start, above its least value", scale="log")
    B_mini = Count(1, bounds=(1, 256), label="batch", unit="sequences", scale="log", group="law")
    T = Quantity(1e4, bounds=(1e2, 1e7), label="horizon of Corollary 1", unit="steps", scale="log")
    eta_h = Quantity(0.1, bounds=(0.01, 100), label="step size × curvature, η h", scale="log")

    lr = Quantity(
        1e-2,
        bounds=(1e-4, 0.1),
        label="high learning rate; the low one is a tenth",
        scale="log",
        group="training",
        doc="Peak at width 32, falling as 1 / sqrt(width); the quick size, a shorter run, takes three times it.",
    )
    b2 = Quantity(0.99, bounds=(0.9, 0.999), label="decay of the second moment", step=0.001, group="training")
    noise_h = Quantity(
        2.0, bounds=(0, 5), label="noise of the curvature (chains)", unit="h", group="training", step=0.1
    )
    corpus = Choice(
        list(TEXTS),
        label="Text (from this computer's Python)",
        open_to_python=True,
        doc="From Python and the command line also a path to a text file or a folder.",
    )
    seeds = Count(3, bounds=(1, 8), label="seeds of each condition")
    first_seed = Count(
        10, bounds=(0, 1000), label="first seed", doc="The regime was chosen on seeds 0, 1 and 2."
    )

    # -- predict ----------------------------------------------------------------------------------------------

    @property
    def _delta(self) -> float:
        return float(law.of_batch(self.delta, self.B_mini))

    @property
    def _sigma(self) -> float:
        return float(law.of_batch(self.sigma, self.B_mini))

    @property
    def _noisy(self) -> bool:
        """Whether the noise is above the wanted gradient norm: else Theorem 1 is plain SGD."""
        return self._sigma > self.eps

    @figure(
        "How wrong the scaled gradient change is",
        x=Axis("γ, share of the correction kept", low=0, high=1),
        y=Axis("δ_γ, error a unit of distance", "1/length"),
        needs=SIMILARITY,
        caption="Lemma 1. At γ = 0 nothing is corrected and the error is L; at γ = 1 all noise is let in and it is δ. "
        "A larger batch lowers δ.",
    )
    def similarity(self) -> list[Curve]:
        grid = np.linspace(0, 1, 201)
        best = float(law.similarity_optimum(self.L, self._delta))
        squared = "x^2*delta^2/B_mini + (1 - x)^2*L^2"
        sim = "L^2/(L^2 + delta^2/B_mini)"
        return [
            Curve(
                "bound",
                "δ_γ",
                grid,
                law.similarity(grid, self.L, self._delta),
                emphasis=True,
                twin=Twin(f"sqrt({squared})"),
            ),
            Curve(
                "ends",
                "",
                np.array([0.0, 1.0]),
                np.array([self.L, self._delta]),
                style="dots",
                twin=Twin(f"sqrt({squared})"),
            ),
            self._dot(
                "best",
                "γ_sim",
                best,
                law.similarity(best, self.L, self._delta),
                Twin(f"sqrt({squared})", x=sim),
            ),
            self._dot(
                "here",
                "γ",
                self.gamma,
                law.similarity(self.gamma, self.L, self._delta),
                Twin(f"sqrt({squared})", x="gamma"),
            ),
        ]

    @figure(
        "What each γ costs, against MVR",
        x=GAMMA,
        y=Axis("cost over that of γ = 1", scale="log"),
        needs=BOUNDS,
        caption="Steps T of Theorem 1 and the surrogate J of Corollary 2, each over its value at γ = 1. J adds the "
        "penalty, T its square, so they can disagree on the best γ. γ = 0 is drawn at 0.001.",
        empty="With σ of a batch at most ε Theorem 1 takes plain SGD: γ plays no role, and nothing is to be compared.",
    )
    def cost(self) -> list[Curve]:
        if not self._noisy:
            return []
        constants = (self.L, self._delta, self._sigma, self.eps)
        ratio_T = self._steps(GRID) / self._steps(1.0)
        ratio_J = self._surrogate(GRID) / self._surrogate(1.0)
        best_T = float(law.steps_optimum(*constants))
        best_J = float(law.surrogate_optimum(*constants))
        return [
            Curve("T", "steps T", place(GRID), ratio_T, emphasis=True),
            Curve("J", "surrogate J", place(GRID), ratio_J),
            self._dot("best T", "least T", place(best_T), self._steps(best_T) / self._steps(1.0)),
            self._dot("best J", "γ*, least J", place(best_J), self._surrogate(best_J) / self._surrogate(1.0)),
            self._dot("here", "γ", place(self.gamma), self._steps(self.gamma) / self._steps(1.0)),
            Curve("MVR", "", np.array([ZERO_AT, 1.0]), np.ones(2), style="dotted", tone=0.5),
        ]

    @figure(
        "The stability edge",
        x=GAMMA,
        y=Axis("step size × curvature, η h", scale="log", low=0.01, high=2000),
        needs={"gamma", "b1", "eta_h"},
        caption="Above the edge an error in a direction of curvature h grows, flipping sign each step. γ = 1 stands 2 "
        "at any b1. γ = 0 is drawn at 0.001. Dots of a run: where real full-batch data began to diverge.",
    )
    def edge(self) -> list[Curve]:
        stable = self.eta_h < stability.edge(self.gamma, self.b1)
        at, nowhere = float(place(self.gamma)), math.nan
        return [
            Curve("edge", "edge", place(GRID), stability.edge(GRID, self.b1), emphasis=True),
            self._dot("stable", "(γ, η h): stable", at, self.eta_h if stable else nowhere),
            self._dot("unstable", "(γ, η h): above the edge", at, nowhere if stable else self.eta_h),
        ]

    @figure(
        "The order over γ: 1 is the lowest loss",
        x=GAMMA,
        y=Axis("place among the γ"),
        needs=SIMILARITY | {"b1", "eta_h"},
        caption="Lines: the sliders' L, δ and η h. From a run, one colour a rate: dots are measured, seed by seed. "
        "What the probe of AdamW said before any other γ was trained: dashed for similarity below the edge, rings "
        "for similarity alone. γ = 0 is drawn at 0.001.",
        shown=False,
    )
    def order(self) -> list[Curve]:
        gammas = with_gamma(list(GAMMAS), self.gamma)
        x = place(np.array(gammas))
        alone = similarity_order(gammas, self.L, self._delta)
        below = order_below_edge(gammas, self.L, self._delta, self.eta_h, self.b1)
        return [
            Curve("similarity", "similarity alone", x, alone),
            Curve("edge", "below the edge", x, below),
        ]

    @figure(
        "What a longer run is promised",
        x=Axis("horizon T", "steps", scale="log"),
        y=Axis("bound on E ||∇f||²", scale="log"),
        needs=BOUNDS | {"T"},
        caption="Corollary 1, one line a γ. MVR falls with slope -2/3, every other γ in the end with -1/2, so they "
        "cross. A line begins where the corollary holds.",
        empty="Corollary 1 does not hold for these values at any horizon shown.",
        shown=False,
    )
    def horizon(self) -> list[Curve]:
        T = np.logspace(2, 7, 101)
        constants = (self.L, self._delta, self._sigma, self.Delta0)
        shown = sorted({0.0, 0.025, 0.1, 1.0, self.gamma})
        lines = [
            Curve(
                f"gamma {gamma:g}",
                f"γ = {gamma:g}",
                T,
                law.horizon_bound(T, gamma, *constants),
                tone=k / (len(shown) - 1),
                emphasis=gamma == self.gamma,
            )
            for k, gamma in enumerate(shown)
        ]
        here = self._dot("here", "T", self.T, law.horizon_bound(self.T, self.gamma, *constants))
        return [*lines, here] if any(np.isfinite(line.y).any() for line in lines) else []

    @figure(
        "Where a γ below 1 pays",
        x=Axis("wanted gradient norm ε", scale="log"),
        y=Axis("δ of the batch", "1/length", scale="log"),
        z=Axis("speed-up of the bound over MVR", scale="log"),
        needs=BOUNDS,
        caption="J(1) / J(γ*). Above the line L σ = ε δ the best γ is below 1, under it MVR is best. Left out where "
        "σ is at most ε.",
        empty="With σ of a batch at most ε at every ε shown γ plays no role.",
        shown=False,
    )
    def speed_up(self) -> list[Curve | Surface]:
        eps, delta = np.logspace(-5, 0, 51), np.logspace(-1, 3, 41)
        gain = law.speed_up(self.L, delta[:, None], self._sigma, eps[None, :])
        gain = np.where(eps[None, :] < self._sigma, gain, np.nan)
        if not np.isfinite(gain).any():
            return []
        diagonal = self.L * self._sigma / eps
        diagonal = np.where((diagonal >= delta[0]) & (diagonal <= delta[-1]), diagonal, np.nan)
        return [
            Surface("speed-up", eps, delta, gain),
            Curve("diagonal", "L σ = ε δ", eps, diagonal, style="dashed"),
            self._dot("here", "(ε, δ)", self.eps, self._delta),
        ]

    @figure(
        "How far noise scatters one weight",
        x=GAMMA,
        y=Axis("E x² in the long run", scale="log"),
        needs={"gamma", "b1", "eta_h", "noise_h"},
        caption="Exact, for the gradient (h + noise h z1) x + z2 with the same z1, z2 at both points. This toy always "
        "favours γ near 1: it is a check of the recursion, no argument about γ. γ = 0 is drawn at 0.001.",
        empty="At this η h the scatter grows without bound for every γ; lower η h.",
        shown=False,
    )
    def spread(self) -> list[Curve]:
        noises = sorted({*CHAIN_NOISES, self.noise_h})
        values = stability.stationary_spread(
            GRID[None, ::2], self.eta_h, 1.0, np.array(noises)[:, None], 1.0, self.b1
        )
        lines = [
            Curve(
                f"noise {noise:g}",
                f"noise {noise:g} h",
                place(GRID[::2]),
                row,
                emphasis=noise == self.noise_h,
            )
            for noise, row in zip(noises, values, strict=True)
        ]
        return lines if np.isfinite(values).any() else []

    def _steps(self, gamma: law.Values) -> np.ndarray:
        return law.steps(gamma, self.L, self._delta, self._sigma, self.eps, self.Delta0).T

    def _surrogate(self, gamma: law.Values) -> np.ndarray:
        return law.surrogate(gamma, self.L, self._delta, self._sigma, self.eps, self.Delta0)

    @staticmethod
    def _dot(key: str, label: str, x: law.Values, y: law.Values, twin: Twin | None = None) -> Curve:
        here = key in ("here", "stable", "unstable")
        at = np.array([float(x)]), np.array([float(y)])
        return Curve(key, label, *at, style="dots", emphasis=here, twin=twin)

    # -- what only a run draws

    @figure(
        "Loss at the high rate",
        x=CHARACTERS,
        y=LOSS,
        live=True,
        caption="One curve a γ and seed; members of a seed share initial values and minibatches.",
        empty="Press Train. AdamW is trained and probed first; the order of the other γ that each theory gives is "
        "sealed; then they are trained, at a high rate and at a tenth of it.",
    )
    def loss_high(self) -> list[Curve]:
        return []

    @figure("Loss at a tenth of the rate", x=CHARACTERS, y=LOSS, live=True, empty="Press Train.")
    def loss_low(self) -> list[Curve]:
        return []

    @figure(
        "Loss at the high rate, by FLOPs",
        x=Axis("training FLOPs", scale="log"),
        y=LOSS,
        live=True,
        caption="The exact correction takes two backward passes a step; AdamW and the one-gradient form take one.",
        empty="Press Train.",
    )
    def loss_by_flops(self) -> list[Curve]:
        return []

    @figure(
        "Final loss less AdamW's",
        x=GAMMA,
        y=Axis("difference", "nats/character"),
        live=True,
        caption="Below 0 the correction helps. Paired: same initial values, same minibatches.",
        empty="Press Train.",
    )
    def difference(self) -> list[Curve]:
        return []

    @figure(
        "Rate × curvature against the edges",
        x=CHARACTERS,
        y=Axis("rate × largest curvature under Adam", scale="log"),
        live=True,
        caption="Curvature of the loss in the coordinates that Adam's step sizes make. Dashed: the edge of each γ, "
        "in its colour; dots: AdamW, and MVR on the first seed.",
        empty="Press Train.",
    )
    def sharpness(self) -> list[Curve]:
        return []

    @figure(
        "γ that similarity alone recommends",
        x=CHARACTERS,
        y=Axis("γ_sim = L² / (L² + δ²), probed", low=0, high=1),
        live=True,
        caption="From gradient changes over AdamW's last step, on several minibatches at both points.",
        empty="Press Train.",
    )
    def recommended(self) -> list[Curve]:
        return []

    @figure(
        "Signal and noise of the gradient's change",
        x=CHARACTERS,
        y=Axis("squared norm", scale="log"),
        live=True,
        caption="||E Δ||² with its bias Var Δ / K taken off, and Var Δ, on AdamW's first seed; their ratio is L² : δ².",
        empty="Press Train.",
    )
    def probe(self) -> list[Curve]:
        return []

    @figure(
        "Share of tensors clipped",
        x=GAMMA,
        y=Axis("share of (step, tensor) pairs"),
        live=True,
        caption="Where much is clipped the momentum lags: γ = 1 with a clip is no longer MVR.",
        empty="Press Train.",
    )
    def clipped(self) -> list[Curve]:
        return []

    def readouts(self) -> list[Readout]:
        constants = (self.L, self._delta, self._sigma, self.eps)
        edge = float(stability.edge(self.gamma, self.b1))
        side = "stable" if self.eta_h < edge else "above the edge"
        found = [
            Readout(
                "γ_sim, similarity only",
                float(law.similarity_optimum(self.L, self._delta)),
                doc="Least δ_γ, Lemma 1",
            ),
            Readout("stability edge of η h", edge, doc="For γ and b1, without noise"),
            Readout("η h / edge", self.eta_h / edge, text=f"{self.eta_h / edge:.3g}, {side}"),
            Readout("L σ / (ε δ)", float(law.penalty_ratio(*constants)), doc="Below 1 a γ under 1 pays"),
            Readout(
                "bound after T steps",
                float(law.horizon_bound(self.T, self.gamma, self.L, self._delta, self._sigma, self.Delta0)),
                doc="On E ||∇f||², Corollary 1",
            ),
        ]
        if not self._noisy:
            why = "γ plays no role: σ of a batch is at most ε, so Theorem 1 takes plain SGD."
            return [*found, Readout("which wins", text=why), Readout("T, steps", float(self._steps(0.0)))]
        best_T = float(law.steps_optimum(*constants))
        return [
            *found,
            Readout(
                "γ*, with penalty",
                float(law.surrogate_optimum(*constants)),
                doc="Least J, Corollary 2; never below γ_sim",
            ),
            Readout("γ of least T", best_T, doc="Theorem 1 with its constants"),
            Readout("J(1) / J(γ*)", float(law.speed_up(*constants)), doc="Speed-up of the bound over MVR"),
            Readout("T(γ) / T(1)", float(self._steps(self.gamma) / self._steps(1.0))),
            Readout("T, steps", float(self._steps(self.gamma)), doc="Of Theorem 1, for E ||∇f||² ≤ 4 ε²"),
            Readout("b1 of Theorem 1", 1 - float(law.mixing(self._sigma, self.eps)), doc="1 - ε² / σ²"),
            Readout("which wins", text=self._winner(best_T), doc="By Theorem 1's T"),
        ]

    def _winner(self, best: float) -> str:
        least = float(self._steps(best))
        even = [
            name
            for name, gamma in (("momentum", 0.0), ("MVR", 1.0))
            if self._steps(gamma) <= (1 + CLOSE) * least
        ]
        if even:
            return f"{' and '.join(even)}, within 1 % of the best γ = {best:.3g}"
        return f"interior: γ = {best:.3g}"

    # -- train ------------------------------------------------------------------------------------------------

    @trial(
        figures=(
            "loss_high",
            "loss_low",
            "difference",
            "order",
            "sharpness",
            "recommended",
            "loss_by_flops",
            "probe",
            "clipped",
        ),
        seconds={"quick": 15, "default": 60, "wide": 250, "large": 1800},
        title="Train one model a γ, at a high rate and at a tenth of it",
    )
    def gammas(self, size: str) -> dict[str, Any]:
        if self.corpus not in TEXTS and not Path(self.corpus).exists():
            raise BadInput(f"There is no file or folder {self.corpus}. Give a text file or a folder of them.")
        settings = dict(SIZES[size])
        factor = settings.pop("rate_factor", 1.0)
        return {
            "approximate": self.gamma or None,
            **settings,
            "gammas": with_gamma(settings["gammas"], self.gamma),
            "learning_rate": factor * self.lr,
            "b1": self.b1,
            "b2": self.b2,
            "corpus": self.corpus,
            "seeds": self.seeds,
            "first_seed": self.first_seed,
        }

    @trial(
        figures=("spread", "edge"),
        seconds={"quick": 3, "default": 5, "large": 25},
        title="Many noisy chains against the exact recursion, and the step at which data diverge",
        experiment="chains",
    )
    def chains(self, size: str) -> dict[str, Any]:
        return {
            **CHAINS[size],
            "gammas": sorted({*CHAIN_GAMMAS, self.gamma}),
            "noises": sorted({*CHAIN_NOISES, self.noise_h}),
            "eta_h": self.eta_h,
            "b1": self.b1,
            "first_seed": self.first_seed,
        }

    # -- compare ----------------------------------------------------------------------------------------------

    @agreement(
        trial="gammas",
        claim="At the high rate MVR (γ = 1) ends above the best γ between 0 and 1: mean paired difference above 0.",
        threshold=0.0,
        sense="above",
    )
    def mvr_loses(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """The best gamma is chosen by the other seeds."""
        high = Outcome(measured, "high")
        if not high:
            return _nothing()
        found = paired_difference(high.at(1.0), high.best_between())
        plain = paired_difference(high.at(1.0), high.at(0.0))
        return Comparison(
            found.mean,
            found.interval,
            found.seeds,
            high.points,
            f"Final held-out losses, nats a character. Against AdamW MVR ends {_signed(plain.mean)}.",
            {"MVR less AdamW": plain.mean},
        )

    @agreement(
        trial="gammas",
        claim="The order turns with the rate: MVR's final loss less AdamW's is larger at the high rate than at a tenth "
        "of it.",
        threshold=0.0,
        sense="above",
    )
    def reversal(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Difference of two paired differences, over the seeds that both rates have."""
        high, low = Outcome(measured, "high"), Outcome(measured, "low")
        if not (high and low) or high.seeds != low.seeds:
            return _nothing()
        at_high, at_low = (np.subtract(one.at(1.0), one.at(0.0)) for one in (high, low))
        found = paired_difference(at_high.tolist(), at_low.tolist())
        return Comparison(
            found.mean,
            found.interval,
            found.seeds,
            high.points + low.points,
            f"Against AdamW MVR ends {_signed(float(at_high.mean()))} at the high rate, "
            f"{_signed(float(at_low.mean()))} at the low one.",
        )

    @agreement(
        trial="gammas",
        claim="At the high rate the order of similarity below the stability edge is closer to the measured one than "
        "that of similarity alone: difference of rank correlations above 0.",
        threshold=0.0,
        sense="above",
    )
    def edge_explains(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Spearman's correlation with each seed's own order; both predictions were sealed before."""
        high = Outcome(measured, "high")
        if not high or "orders" not in sealed:
            return _nothing()
        orders, above = sealed["orders"].details["orders"]["high"], sealed["orders"].details["above_edge"]
        own = {
            name: [spearman(orders[name], losses) for losses in high.final.T]
            for name in ("edge", "similarity")
        }
        found = paired_difference(own["edge"], own["similarity"])
        flagged = ", ".join(f"{gamma:g}" for gamma in above["high"]) or "none"
        return Comparison(
            found.mean,
            found.interval,
            found.seeds,
            high.points,
            f"Sealed as above the edge at the high rate: γ = {flagged}.",
            {
                "similarity alone": float(np.mean(own["similarity"])),
                "below the edge": float(np.mean(own["edge"])),
            },
        )

    @agreement(
        trial="gammas",
        claim="Similarity alone, at the high rate: the γ of least loss is within a factor 4 of the probed γ_sim.",
        threshold=4.0,
    )
    def similarity_high(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        return self._within(measured, sealed, "high")

    @agreement(
        trial="gammas",
        claim="Similarity alone, at a tenth of the rate: the γ of least loss is within a factor 4 of the probed γ_sim.",
        threshold=4.0,
    )
    def similarity_low(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        return self._within(measured, sealed, "low")

    def _within(self, measured: Measured, sealed: Mapping[str, Prediction], level: str) -> Comparison:
        """exp |mean over seeds of ln(argmin / gamma_sim)|, the argmin over the trained gammas, 0 counting as 0.001."""
        found = Outcome(measured, level)
        if not found or "orders" not in sealed:
            return _nothing()
        details = sealed["orders"].details
        predicted = float(details["probed"][level]["gamma_sim"])
        limit = details["gamma_at_edge"].get(level, math.inf)
        least = place(found.argmins())
        value, interval = _factor(least, predicted)
        below, _ = _factor(least, max(ZERO_AT, min(predicted, limit)))
        chosen = ", ".join(f"{gamma:g}" for gamma in found.argmins())
        return Comparison(
            value,
            interval,
            len(found.seeds),
            found.points,
            f"Least loss at γ = {chosen}, seed by seed, of {len(found.gammas)} trained; the probed γ_sim is "
            f"{predicted:.2g}.",
            {"the same for similarity below the edge": below},
        )

    @agreement(
        trial="chains",
        claim="In every cell the chains' mean x² is within 3 standard errors of the exact recursion.",
        threshold=3.0,
    )
    def recursion(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Largest distance in standard errors; the cells of one noise share random numbers."""
        cells = [
            (float(y[0]), float(s.labels["exact"]), float(s.labels["error"]))
            for s, _, y in measured
            if s.figure == "spread" and len(y)
        ]
        if not cells:
            return _nothing()
        off = [abs(value - exact) / error for value, exact, error in cells]
        worst = max(abs(value / exact - 1) for value, exact, _ in cells)
        scope = (
            f"{len(cells)} cells of γ and noise; the largest deviation is {worst:.1%}. Chance alone passes 3 standard "
            "errors in about one run of a hundred."
        )
        return Comparison(max(off), None, 1, len(cells), scope)

    @agreement(
        trial="chains",
        claim="Every step at which full-batch data begin to diverge is within 1 % of the edge.",
        threshold=0.01,
    )
    def divergence(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Largest relative distance over gamma."""
        if "divergence" not in measured or "divergence" not in sealed:
            return _nothing()
        _, x, found = measured["divergence"]
        edges = dict(
            zip(sealed["divergence"].curve("edge").x, sealed["divergence"].curve("edge").y, strict=True)
        )
        off = [abs(step / edges[at] - 1) for at, step in zip(x.tolist(), found.tolist(), strict=True)]
        if not off:
            return _nothing()
        return Comparison(
            max(off), None, 1, len(off), f"A linear regression on all its data; {len(off)} values of γ."
        )

    def tables(self, trial: str, measured: Measured, sealed: Mapping[str, Prediction]) -> list[Table]:
        if trial == "chains":
            return chain_table(measured)
        outcomes = {level: Outcome(measured, level) for level in ("high", "low")}
        if not all(outcomes.values()):
            return []
        found = [loss_table(measured, outcomes)]
        if "orders" in sealed:
            details = sealed["orders"].details
            found += [theory_table(outcomes, details), probe_table(details)]
        return found


def _nothing() -> Comparison:
    return Comparison(math.nan, None, 0, 0, "Too little was measured to compare.")


def _signed(difference: float) -> str:
    return f"{abs(difference):.4f} {'above' if difference > 0 else 'below'} it"


def _factor(least: np.ndarray, predicted: float) -> tuple[float, tuple[float, float]]:
    """How many times off the mean ln gamma is, and where that lies given the spread over seeds."""
    logs = log_factor(least, predicted)
    if not np.isfinite(logs).all():
        return math.inf, (1.0, math.inf)
    mean = np.array([logs.mean()])
    error = float(np.std(logs, ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
    low, high = rms_interval(mean, error, len(logs) - 1) or (0.0, math.inf)
    return math.exp(abs(float(mean[0]))), (math.exp(low), math.exp(high))
