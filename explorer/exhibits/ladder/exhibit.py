"""The flagship: the Chinchilla law under a person's hand, and a ladder of tiny models that puts it to the test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.agreement import pooled_seed_sd, rms_interval
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
    Twin,
    agreement,
    figure,
    trial,
)
from explorer.exhibits.ladder.law import (
    ACCOUNTS,
    Constants,
    flops_per_token,
    optimum,
    tokens_for,
    valley,
    waste,
)
from explorer.exhibits.ladder.sizes import SIZES
from explorer.laws import allocation, chinchilla, data_constrained, kaplan, overtraining, published
from explorer.records import Measured, Prediction

LAW = {"E", "A", "B", "alpha", "beta"}
CHINCHILLA = "E + A/N^alpha + B/D^beta"
PARAMETERS = Axis("parameters N", scale="log")
TOKENS = Axis("training tokens D", scale="log")
LOSS = Axis("loss", "nats/token")

N_BOUNDS, D_BOUNDS, C_BOUNDS = (1e6, 1e13), (1e8, 1e14), (1e14, 1e29)
DECADES_OF_COMPUTE = np.arange(-2.0, 2.01, 1.0)


def _presets() -> dict[str, dict[str, float]]:
    """Every published set of constants that can be written as E + A/N^α + B/D^β."""
    found = {
        f"{one.title} · arXiv {one.arxiv}": dict(one.coefficients) for one in published.CHINCHILLA.values()
    }
    for one in published.DATA_CONSTRAINED.values():
        found[f"{one.title} · arXiv {one.arxiv}"] = dict(one.coefficients)
    for one in published.OVERTRAINING.values():
        values = overtraining.chinchilla_coefficients(**one.coefficients)
        found[f"Gadre, {one.title} · arXiv {one.arxiv}"] = {k: float(v) for k, v in values.items()}
    return found


class Ladder(Exhibit):
    """The ladder: predict a bigger model from small ones

    N, D and C are tied: moving N keeps the compute C and lets D follow, within its bounds; moving D or C keeps N.
    """

    slug = "ladder"
    rank = 0
    paper = Paper(
        title="Training Compute-Optimal Large Language Models, refitted in Chinchilla Scaling: A replication attempt",
        authors="Hoffmann et al. 2022; Besiroglu et al. 2024",
        venue="NeurIPS 2022",
        arxiv="2203.15556, 2404.10102",
    )
    presets = _presets()

    E = Quantity(1.8172, bounds=(0, 3), label="irreducible loss", unit="nats/token", step=0.001)
    A = Quantity(482.01, bounds=(1, 1e5), label="parameter coefficient", unit="nats", scale="log")
    B = Quantity(2085.43, bounds=(1, 1e5), label="data coefficient", unit="nats", scale="log")
    alpha = Quantity(0.3478, bounds=(0.05, 1), label="parameter exponent α", step=0.001)
    beta = Quantity(0.3658, bounds=(0.05, 1), label="data exponent β", step=0.001)

    N = Quantity(7e10, bounds=N_BOUNDS, label="parameters", scale="log", group="data")
    D = Quantity(1.4e12, bounds=D_BOUNDS, label="training tokens", scale="log", group="data")
    C = Quantity(
        5.88e23,
        bounds=C_BOUNDS,
        softbounds=(1e17, 1e27),
        label="compute",
        unit="FLOPs",
        scale="log",
        group="data",
    )
    epochs = Quantity(1.0, bounds=(1, 300), label="times the data is seen", scale="log", group="data")
    R_D = Quantity(
        15.387756, bounds=(1, 100), label="repeats of the data that pay", scale="log", group="data"
    )
    R_N = Quantity(5.309743, bounds=(1, 100), label="excess parameters that pay", scale="log", group="data")
    account = Choice(list(ACCOUNTS), label="FLOPs counted", group="data")

    corpus = Choice(
        ["code", "prose"],
        label="Text (from this computer's Python)",
        open_to_python=True,
        doc="From Python and the command line also a path to a text file or a folder.",
    )
    seeds = Count(3, bounds=(1, 8), label="seeds of each width")
    first_seed = Count(0, bounds=(0, 1000), label="first seed")

    # -- predict ----------------------------------------------------------------------------------------------

    @property
    def constants(self) -> Constants:
        return Constants(self.E, self.A, self.B, self.alpha, self.beta)

    def settle(self, changed: set[str]) -> dict[str, Any]:
        """Keep C = FLOPs(N) D; out-of-range followers stop at their bound and C gives way."""
        if not changed & {"N", "D", "C", "account"}:
            return {}
        price = float(flops_per_token(np.asarray(self.N), self.account))
        D = self.D
        if "D" not in changed and changed & {"N", "C"}:
            D = min(max(self.C / price, D_BOUNDS[0]), D_BOUNDS[1])
        return {"D": D, "C": min(max(price * D, C_BOUNDS[0]), C_BOUNDS[1])}

    @figure(
        "Loss while a model reads",
        x=TOKENS,
        y=LOSS,
        needs=LAW | {"N", "D"},
        caption="One curve a model size, a decade apart; the thick one is N. Each ends at E + A/N^α, not at E.",
    )
    def loss_curves(self) -> list[Curve]:
        D = np.logspace(8, 14, 181)
        curves = [
            Curve(
                key=f"N x 10^{decade}",
                label="N" if decade == 0 else f"N × 1e{decade:+d}",
                x=D,
                y=self.constants.loss(np.asarray(self.N * 10.0**decade), D),
                tone=(decade + 3) / 4,
                emphasis=decade == 0,
                twin=Twin("E + A/(N*k)^alpha + B/x^beta", constants={"k": 10.0**decade}),
            )
            for decade in range(-3, 2)
        ]
        floor = Curve("E", "E", D[[0, -1]], np.full(2, self.E), style="dotted", tone=0.5, twin=Twin("E"))
        return [*curves, floor, self._here(self.D, self._loss(), Twin(CHINCHILLA, x="D"))]

    @figure(
        "IsoFLOP valleys",
        x=PARAMETERS,
        y=LOSS,
        needs=LAW | {"N", "D", "C", "account"},
        caption="Loss against size at fixed compute, one valley a decade of C. The floor moves with the constants.",
    )
    def valleys(self) -> list[Curve]:
        budgets = self.C * 10**DECADES_OF_COMPUTE
        curves = []
        for k, (decade, budget) in enumerate(zip(DECADES_OF_COMPUTE, budgets, strict=True)):
            N, loss = valley(self.constants, budget, self.account)
            label = "C" if decade == 0 else f"C × 1e{decade:+.0f}"
            curves.append(Curve(f"C{decade:+.0f}", label, N, loss, tone=k / 4, emphasis=bool(decade == 0)))
        best_N, best_D = optimum(self.constants, budgets, self.account)
        bottoms = Curve(
            "optimum", "optimum", best_N, self.constants.loss(best_N, best_D), style="dots", tone=1.0
        )
        return [*curves, bottoms, self._here(self.N, self._loss())]

    @figure(
        "Where the compute should go",
        x=Axis("training compute C", "FLOPs", scale="log", low=1e18, high=1e26),
        y=Axis("best size N*, tokens D*", scale="log", low=1e7, high=1e14),
        needs=LAW | {"N", "D", "C", "account"},
        caption="N* and D* for the sliders, N* for published constants; known models as dots (6ND). Kaplan's N has "
        "no embeddings.",
    )
    def frontier(self) -> list[Curve]:
        C = np.logspace(18, 26, 33)
        best_N, best_D = optimum(self.constants, C, self.account)
        curves = [
            Curve("sliders", "N*", C, best_N, emphasis=True),
            Curve("tokens", "D*", C, best_D),
        ]
        for slug, one in published.CHINCHILLA.items():
            c = one.coefficients
            N = allocation.optimal_parameters(C, c["A"], c["B"], c["alpha"], c["beta"])
            curves.append(Curve(slug, one.title, C, N, style="dashed"))
        curves.append(Curve("kaplan", "Kaplan", C, kaplan.optimal_parameters(C), style="dotted"))
        models = published.MODELS.values()
        known = Curve(
            "models",
            "",
            np.array([6 * m.N * m.D for m in models]),
            np.array([m.N for m in models]),
            style="dots",
            names=tuple(m.title for m in models),
        )
        return [*curves, known, self._here(self.C, self.N)]

    @figure(
        "The plane of size and data",
        x=Axis("parameters N", scale="log", low=1e8, high=10**12.5),
        y=Axis("training tokens D", scale="log", low=D_BOUNDS[0], high=D_BOUNDS[1]),
        needs=LAW | {"N", "D", "C", "account"},
        caption="Lines of equal loss, the line of equal compute through (N, D), and the efficient frontier.",
    )
    def plane(self) -> list[Curve]:
        N = np.logspace(8, 12.5, 121)
        c = self.constants
        here = self._loss()
        # Levels share the reducible loss of (N, D) out in equal ratios, so that they never crowd at E.
        levels = self.E + (here - self.E) * 1.25 ** np.arange(-3.0, 4.0)
        curves = []
        for k, level in enumerate(levels):
            D = chinchilla.iso_loss_tokens(level, N, c.E, c.A, c.B, c.alpha, c.beta)
            D = np.where((D_BOUNDS[0] < D) & (D_BOUNDS[1] > D), D, np.nan)
            label = f"L = {here:.3f}" if k == 3 else ""
            curves.append(Curve(f"level {k}", label, N, D, tone=1 - k / 6, emphasis=k == 3))
        budget = tokens_for(np.asarray(self.C), N, self.account)
        budget = np.where((budget > D_BOUNDS[0]) & (budget < D_BOUNDS[1]), budget, np.nan)
        best_N, best_D = optimum(c, np.logspace(17, 27, 41), self.account)
        inside = (best_N > N[0]) & (best_N < N[-1]) & (best_D > D_BOUNDS[0]) & (best_D < D_BOUNDS[1])
        frontier = Curve("frontier", "frontier", best_N, np.where(inside, best_D, np.nan))
        return [
            *curves,
            Curve("budget", "equal compute", N, budget, style="dashed"),
            frontier,
            self._here(self.N, self.D),
        ]

    @figure(
        "What repeating the data buys",
        x=Axis("epochs D/U", scale="log"),
        y=LOSS,
        needs=LAW | {"N", "D", "epochs", "R_D", "R_N"},
        caption="N parameters on D / epochs unique tokens, seen again and again; dashed: if every token were fresh. "
        "The two differ at one epoch already where N is more than those tokens call for.",
        shown=False,
    )
    def repetition(self) -> list[Curve]:
        epochs = np.logspace(0, 2.5, 121)
        unique = self.D / self.epochs
        D = unique * epochs
        c = (self.E, self.A, self.B, self.alpha, self.beta)
        repeated = data_constrained.loss(self.N, D, unique, *c, self.R_D, self.R_N)
        return [
            Curve("repeated", "repeated", epochs, repeated, emphasis=True),
            Curve("fresh", "all fresh", epochs, chinchilla.loss(self.N, D, *c), style="dashed"),
            self._here(self.epochs, self._loss_with_repeats()),
        ]

    @figure(
        "The ladder: measured and sealed",
        x=Axis("training characters D", scale="log"),
        y=Axis("held-out loss", "nats/character"),
        needs=(),
        caption="Dots: measured. Dashed: the law fitted to the small models and sealed before the held-out model was "
        "trained, with its 90 % band. Shaded: the budgets that are fitted and scored.",
        live=True,
        empty="Press Train. Small models are trained first and the law is fitted to them; what it says of the bigger "
        "model is sealed before that model takes its first step.",
    )
    def ladder(self) -> list[Curve]:
        return []

    def _loss(self) -> float:
        return float(self.constants.loss(np.asarray(self.N), np.asarray(self.D)))

    def _loss_with_repeats(self) -> float:
        c = (self.E, self.A, self.B, self.alpha, self.beta)
        unique = self.D / self.epochs
        return float(data_constrained.loss(self.N, self.D, unique, *c, self.R_D, self.R_N))

    def _here(self, x: float, y: float, twin: Twin | None = None) -> Curve:
        return Curve("here", "(N, D)", np.array([x]), np.array([y]), style="dots", emphasis=True, twin=twin)

    def readouts(self) -> list[Readout]:
        C = np.asarray(self.C)
        best_N, best_D = (float(v) for v in optimum(self.constants, C, self.account))
        here = self._loss()
        best = float(self.constants.loss(np.asarray(best_N), np.asarray(best_D)))
        worth = float(data_constrained.effective_tokens(self.D, self.D / self.epochs, self.R_D)) / self.D
        repeated = self._loss_with_repeats()
        a, _ = allocation.exponents(self.alpha, self.beta)
        return [
            Readout("N*, best size", best_N, doc="Parameters that make the loss least for C"),
            Readout("D*, its tokens", best_D, doc="Tokens that go with N*"),
            Readout("D*/N*", best_D / best_N, doc="Tokens a parameter at the optimum"),
            Readout("N/N*", self.N / best_N, doc="How far the size is off the optimum"),
            Readout("loss at (N, D)", here, "nats", f"{here:.4f}", doc="If all D tokens are fresh"),
            Readout(
                "loss at the optimum", best, "nats", f"{best:.4f}", doc="The least loss for C, fresh tokens"
            ),
            Readout("reducible loss", here - self.E, "nats", doc="Above the irreducible loss E"),
            Readout(
                "penalty Φ",
                waste(self.constants, self.N, self.D, self.account),
                doc="Reducible loss over the least",
            ),
            Readout("loss wasted", max(here - best, 0.0), "nats"),
            Readout("a in N* ~ C^a", float(a), doc="For C = 6ND"),
            Readout(
                "worth of the data", worth, doc="Fresh tokens that a token is worth when the data is repeated"
            ),
            Readout("loss with repeats", repeated, "nats", f"{repeated:.4f}"),
        ]

    # -- train ------------------------------------------------------------------------------------------------

    @trial(
        figures=("ladder",),
        seconds={"quick": 15, "default": 45, "decoder": 300, "large": 1800},
        title="Train small models, seal what they predict, train the bigger one",
    )
    def predict_bigger(self, size: str) -> dict[str, Any]:
        if self.corpus not in self.param.corpus.choices and not Path(self.corpus).exists():
            raise BadInput(f"There is no file or folder {self.corpus}. Give a text file or a folder of them.")
        return {**SIZES[size], "corpus": self.corpus, "seeds": self.seeds, "first_seed": self.first_seed}

    # -- compare ----------------------------------------------------------------------------------------------

    @agreement(
        trial="predict-bigger",
        claim="Over the held-out budgets of the bigger model, the root mean square of ln L measured - ln L predicted "
        "is under 0.03.",
        threshold=0.03,
    )
    def bigger_model(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """All scored budgets. The first of them extrapolate in size only."""
        budgets = sealed["bigger-model"].curve("target").x
        return self._against_sealed(measured, sealed["bigger-model"], [True] * len(budgets))

    @agreement(
        trial="predict-bigger",
        claim="At the held-out budgets with at least 4 times the compute of every fitted point, the root mean square "
        "of ln L measured - ln L predicted is under 0.03.",
        threshold=0.03,
    )
    def most_compute(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Only the budgets that extrapolate in compute as well."""
        return self._against_sealed(
            measured, sealed["bigger-model"], sealed["bigger-model"].details["beyond"]
        )

    def _against_sealed(
        self, measured: Measured, prediction: Prediction, chosen: Sequence[bool]
    ) -> Comparison:
        """Mean over seeds of ln L at each chosen budget against the sealed curve.

        Between-seed noise is pooled over widths. Its degrees of freedom are counted once, seeds - 1: all widths of
        one seed read the same text in the same order, so their deviations are not independent.
        """
        details, target = prediction.details, prediction.curve("target")
        kept = np.array(chosen, dtype=bool)
        budgets, predicted = np.array(target.x)[kept], np.log(target.y)[kept]
        runs = [_at(budgets, x, y) for _, x, y in measured.where(role="held out")]
        complete = np.array([run for run in runs if np.isfinite(run).all()])
        if not len(complete) or not len(budgets):
            return Comparison(math.nan, None, 0, 0, "No held-out model was measured at every budget.")
        residuals = complete.mean(axis=0) - predicted
        groups: dict[Any, list[float]] = {}
        for series, x, y in measured:
            late = x >= details["scored_from"]
            groups.setdefault(series.labels["width"], []).append(float(np.log(y[late]).mean()))
        sd = pooled_seed_sd([np.array(one) for one in groups.values()])
        last = residuals[-1]
        return Comparison(
            value=_rms(residuals),
            interval=rms_interval(residuals, sd / math.sqrt(len(complete)), len(complete) - 1),
            seeds=len(complete),
            points=int(complete.size),
            scope=(
                f"Width {details['target_width']} from {budgets[0]:,.0f} to {budgets[-1]:,.0f} tokens; at the last it "
                f"has {details['compute_ratio']:.1f} times the compute of every fitted point and came out "
                f"{abs(last):.1%} {'above' if last > 0 else 'below'} the prediction. Between-seed deviation "
                f"{sd:.4f} in ln L. Text: {details['corpus']}; model: {details['model']}."
            ),
            baselines={
                name: _rms(complete.mean(axis=0) - np.log(one["predicted"])[kept])
                for name, one in details["baselines"].items()
            },
        )


def _at(budgets: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ln y where x equals a budget; NaN where it was not measured."""
    found = dict(zip(x.tolist(), y.tolist(), strict=True))
    return np.log([found.get(budget, math.nan) for budget in budgets.tolist()])


def _rms(residuals: np.ndarray) -> float:
    return float(np.sqrt(np.mean(residuals**2)))
