"""Data mixing: every domain's loss as the weights move, and tiny models on real mixtures that put it to the test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.exhibits import (
    Axis,
    Choice,
    Comparison,
    Count,
    Curve,
    Exhibit,
    Mixture,
    Paper,
    Profile,
    Quantity,
    Readout,
    Surface,
    Table,
    agreement,
    figure,
    trial,
)
from explorer.exhibits.data_mixing import law, report
from explorer.exhibits.data_mixing.law import SETS
from explorer.exhibits.data_mixing.sizes import SIZES
from explorer.laws import mixing
from explorer.records import Measured, Prediction
from explorer.simplex import to_plane

COEFFICIENTS = ("b", "c", "a", "A", "E")
LAW = {"h", "N", "D", "H", "start", *COEFFICIENTS}
LOSS = Axis("loss", "nats/token")
START = next(iter(SETS))
N_BOUNDS, D_BOUNDS, H_BOUNDS = (1e-3, 1e6), (1e-5, 1e5), (1e-6, 1e3)
DOMAINS = ["prose, code, sums", "prose, code, names"]


def _by_domain(symbol: str, label: str, bounds: tuple[float, float], scale: str, unit: str = "") -> Profile:
    default = getattr(SETS[START].key, symbol)
    return Profile(default, bounds=bounds, label=label, unit=unit, scale=scale, lengths=(2, 8))


class DataMixing(Exhibit):
    """Which mixture of data is best, and does the answer hold at a larger size?"""

    slug = "data-mixing"
    rank = 3
    paper = Paper(
        title="Explaining Data Mixing Scaling Laws",
        authors="Dai and Zheng 2026",
        venue="ICML 2026",
        arxiv="2606.08167",
    )
    start = Choice(list(SETS), label="coefficients to start from", group="law")
    h = Mixture(SETS[START].values["h"], label="mixture")
    N = Quantity(
        SETS[START].N,
        bounds=N_BOUNDS,
        softbounds=(1e-3, 1e5),
        label="model size",
        unit="M parameters",
        scale="log",
        group="data",
    )
    D = Quantity(
        SETS[START].D,
        bounds=D_BOUNDS,
        softbounds=(1e-4, 1e4),
        label="training tokens",
        unit="B",
        scale="log",
        group="data",
    )
    along = Count(1, bounds=(1, 8), label="domain of the cut", group="data")
    b = _by_domain("b", "capacity exponent", (0.01, 5), "log")
    c = _by_domain("c", "capacity scale", (1e-7, 30), "log", "nats N^b")
    a = _by_domain("a", "noise exponent", (0.01, 3), "log")
    A = _by_domain("A", "noise scale", (1e-7, 10), "log", "nats D^a")
    E = _by_domain("E", "floor", (0, 3), "linear", "nats/token")
    H = Quantity(SETS[START].key.H, bounds=H_BOUNDS, label="shared head", unit="M parameters", scale="log")

    domains = Choice(
        DOMAINS,
        label="Domains that are trained on",
        open_to_python=True,
        doc="From Python and the command line also paths of texts or folders, with commas between.",
    )
    seeds = Count(3, bounds=(1, 8), label="seeds of each mixture (quick takes at most 2)")
    first_seed = Count(0, bounds=(0, 1000), label="first seed")

    # -- sliders that follow ----------------------------------------------------------------------------------

    def settle(self, changed: set[str]) -> dict[str, Any]:
        """A set brings its numbers, trained domains bring their set; entries have one length; the head leaves room."""
        moved: dict[str, Any] = {}
        start = self.start
        if "domains" in changed and "start" not in changed:
            start = next((n for n, one in SETS.items() if ", ".join(one.domains) == self.domains), start)
        if "start" in changed or start != self.start:
            moved = {name: value for name, value in SETS[start].values.items() if name not in changed}
            moved["start"] = start
        now = {name: moved.get(name, getattr(self, name)) for name in ("h", "N", "H", "along", *COEFFICIENTS)}
        leading = next((n for n in ("h", *COEFFICIENTS) if n in changed and n not in moved), None)
        if leading is not None:
            K = len(now[leading])
            # What was set together leads together; the rest follows in length.
            for name in ("h", *COEFFICIENTS):
                if len(now[name]) != K:
                    now[name] = moved[name] = _resized(now[name], K, weights=name == "h")
        K = len(now["b"])
        if now["H"] > now["N"] / K:
            moved["H"] = max(now["N"] / K, H_BOUNDS[0])
        if now["along"] > K:
            moved["along"] = K
        return moved

    def entry_names(self, name: str) -> tuple[str, ...]:
        """The set's names for its domains; numbers where there are more or fewer of them."""
        known, K = SETS[self.start].domains, len(getattr(self, name))
        return known if len(known) == K else tuple(f"domain {i}" for i in range(1, K + 1))

    def entry_presets(self, name: str) -> dict[str, tuple[float, ...]]:
        if name != "h":
            return {}
        K = len(self.h)
        offered = {"uniform": (1 / K,) * K}
        natural = SETS[self.start].natural
        if natural is not None and len(natural) == K:
            offered["natural"] = natural
        return {**offered, "optimum": self._best()}

    @property
    def key(self) -> law.Key:
        """The coefficients as they stand."""
        return law.Key(self.b, self.c, self.a, self.A, self.E, self.H)

    def _best(self) -> tuple[float, ...]:
        return law.best(self.key, self.N, self.D)

    def _names(self) -> tuple[str, ...]:
        return self.entry_names("h")

    # -- predict ----------------------------------------------------------------------------------------------

    @figure(
        "Every domain's loss while the models read",
        x=Axis("training tokens D", scale="log"),
        y=Axis("held-out loss", "nats/character"),
        needs=(),
        live=True,
        caption="One dot a model: every width, mixture and seed, measured on every domain as it trains.",
        empty="Press Train. Two small widths are trained on ten mixtures, side by side.",
    )
    def losses(self) -> list[Curve]:
        return []

    @figure(
        "Measured against predicted",
        x=Axis("predicted loss", "nats/character"),
        y=Axis("measured loss", "nats/character"),
        needs=(),
        live=True,
        caption="Each dot is a domain's loss under a mixture, mean over seeds. Predictions were sealed beforehand; on "
        "the dashed line they are met. The held-out mixtures test one size, the larger model tests the size.",
        empty="Nothing to compare yet: the held-out mixtures and the larger model come after the small models.",
    )
    def against(self) -> list[Curve]:
        return []

    @figure(
        "Mean loss over the triangle of mixtures",
        x=Axis("", low=-0.12, high=1.12),
        y=Axis("", low=-0.1, high=0.98),
        z=Axis("mean loss", "nats/token"),
        needs=LAW,
        plain=True,
        caption="A corner is one domain alone; the rim is drawn for weights of 3 %. After a run on these domains: the "
        "larger model's measured means in the same colours, and rings where laws fitted to small models put the best.",
        empty="A triangle shows three domains. With two, or more than three, look at the cut.",
    )
    def mean_loss_map(self) -> list[Curve | Surface]:
        if len(self.h) != 3:
            return []
        x, y, z = law.mean_map(self.key, self.N, self.D)
        corners = to_plane(np.eye(3))
        edge = to_plane(np.eye(3)[[0, 1, 2, 0]])
        here, optimum = to_plane(np.asarray(self.h)), to_plane(np.asarray(self._best()))
        return [
            Surface("mean", x, y, z),
            Curve("edge", "", *edge, style="dashed"),
            Curve("corners", "", *corners, style="dots", names=self._names()),
            _dot("optimum", "optimum h*", *optimum),
            _dot("here", "mixture h", *here),
        ]

    @figure(
        "A cut through the mixtures",
        x=Axis("weight of the domain of the cut", low=0, high=1),
        y=LOSS,
        needs=LAW | {"along"},
        caption="One domain's weight moves and the others keep their proportions. Thick: the mean over domains.",
    )
    def weight_cut(self) -> list[Curve]:
        k = self.along - 1
        mixtures = law.cut(self.h, k)
        losses = mixing.loss(mixtures, self.N, self.D, self.key.coefficients)
        t, mean = mixtures[:, k], losses.mean(axis=1)
        names = self._names()
        least = int(mean.argmin())
        here = float(mixing.mean_loss(self.h, self.N, self.D, self.key.coefficients))
        return [
            Curve("mean", f"mean, against {names[k]}", t, mean, emphasis=True),
            *(Curve(f"domain {i}", name, t, losses[:, i]) for i, name in enumerate(names)),
            _dot("least", "least of the cut", t[least], mean[least]),
            _dot("here", "mixture h", self.h[k], here),
        ]

    @figure(
        "What each domain's loss is made of",
        x=Axis("domain"),
        y=LOSS,
        needs=LAW,
        caption="The floor, then what lacking capacity costs this domain, then the noise of too few tokens of it.",
    )
    def parts(self) -> list[Curve]:
        parts = mixing.terms(self.h, self.N, self.D, self.key.coefficients)
        x, names = np.arange(len(self.h), dtype=float), self._names()
        stack = np.stack([parts.floor, parts.capacity, parts.noise])
        tops = stack.cumsum(axis=0)
        labels = ("floor E", "capacity c x^-b", "noise A (D h)^-a")
        return [
            Curve(label.split()[0], label, x, top, style="bars", names=names, base=top - own)
            for label, top, own in zip(labels, tops, stack, strict=True)
        ]

    @figure(
        "How the capacity is split",
        x=Axis("domain"),
        y=Axis("capacity x", "M parameters"),
        needs=LAW,
        caption="The head H is the same parameters for all; the tails share the rest. Raise one weight and the others' "
        "tails shrink: this is the competition.",
    )
    def capacity(self) -> list[Curve]:
        split = mixing.split_capacity(self.h, self.N, np.asarray(self.b), np.asarray(self.c), self.H)
        x, names = np.arange(len(self.h), dtype=float), self._names()
        head = np.full(len(x), self.H)
        return [
            Curve("head", "shared head H", x, head, style="bars", names=names),
            Curve("tail", "own tail", x, split.x, style="bars", names=names, base=head),
        ]

    @figure(
        "The best mixture as the model grows",
        x=Axis("model size N", "M parameters", scale="log"),
        y=Axis("weight in h*", low=0),
        needs=LAW - {"h"},
        caption="Optimal weights for D tokens; the head H is kept. Dots: N.",
    )
    def best_by_size(self) -> list[Curve]:
        N, weights = law.best_by_size(self.key, _decade(self.N), self.D)
        return self._weights_by(N, weights, self.N)

    @figure(
        "The best mixture as the data grows",
        x=Axis("training tokens D", "B", scale="log"),
        y=Axis("weight in h*", low=0),
        needs=LAW - {"h"},
        caption="Optimal weights for a model of size N. Dots: D. With more data the noise fades, and what is left to "
        "share out is capacity.",
        shown=False,
    )
    def best_by_tokens(self) -> list[Curve]:
        D, weights = law.best_by_tokens(self.key, self.N, _decade(self.D))
        return self._weights_by(D, weights, self.D)

    def _weights_by(self, x: np.ndarray, weights: np.ndarray, here: float) -> list[Curve]:
        lines = [Curve(f"domain {i}", name, x, weights[:, i]) for i, name in enumerate(self._names())]
        best = np.array(self._best())
        return [*lines, Curve("here", "here", np.full(len(best), here), best, style="dots", emphasis=True)]

    def readouts(self) -> list[Readout]:
        coefficients, best, names = self.key.coefficients, self._best(), self._names()
        losses = mixing.loss(self.h, self.N, self.D, coefficients)
        split = mixing.split_capacity(self.h, self.N, coefficients.b, coefficients.c, self.H)
        least = float(mixing.mean_loss(best, self.N, self.D, coefficients))
        starved = [name for name, x in zip(names, split.x, strict=True) if x <= self.H * (1 + 1e-9)]
        weights = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(names, best, strict=True))
        return [
            Readout("mean loss", float(losses.mean()), "nats", doc="Of all domains, each counted the same"),
            Readout("mean loss at h*", least, "nats", doc="The least that any mixture gives"),
            Readout("lost by h", float(losses.mean()) - least, "nats", doc="Mean loss above the least one"),
            Readout("h*", text=weights, doc="The mixture with the least mean loss"),
            Readout(
                "loss by weight",
                float(np.dot(self.h, losses)),
                "nats",
                doc="Weighted by h, as training counts it; its optimum is another one",
            ),
            Readout(
                "price λ",
                float(split.price),
                doc="What one more unit of capacity takes off the weighted loss",
            ),
            Readout("starved", text=", ".join(starved) or "none", doc="Domains that have the head only"),
            Readout("H K / N", self.H * len(self.h) / self.N, doc="The head as a share of an even part of N"),
        ]

    # -- train ------------------------------------------------------------------------------------------------

    @trial(
        figures=("losses", "against", "mean_loss_map"),
        seconds={"quick": 14, "default": 75, "large": 1800},
        title="Train small models on many mixtures, seal what the laws say, then check it and train a larger model",
    )
    def sweep(self, size: str) -> dict[str, Any]:
        trained = tuple(name.strip() for name in self.domains.split(","))
        K = len(trained)
        seeds = min(self.seeds, 2) if size == "quick" else self.seeds
        uniform = np.allclose(self.h, 1 / len(self.h))
        yours = list(self.h) if len(self.h) == K and not uniform else None
        return {
            **SIZES[size],
            "on_the_map": trained == SETS[self.start].domains,
            "domains": self.domains,
            "seeds": seeds,
            "first_seed": self.first_seed,
            "yours": yours,
        }

    # -- compare ----------------------------------------------------------------------------------------------
    # All thresholds stood before the first scored run. The third is on regret and not on distance, since the mean loss
    # is flat around its minimum: a mixture may be far off at no cost. A hundredth of a nat is about what two seeds of
    # one mixture differ by.

    @agreement(
        trial="sweep",
        claim="Over mixtures that were not fitted, at one size, the mean relative error of the sealed losses is under "
        "2 %.",
        threshold=0.02,
    )
    def held_out(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """All domains of all held-out mixtures; measured losses are means over seeds."""
        return report.held_out_error(measured, sealed["held-out-mixtures"])

    @agreement(
        trial="sweep",
        claim="This error is less than half of that of saying, for every mixture, the mean of the fitted ones.",
        threshold=0.5,
    )
    def against_the_mean(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """The law's error over the error of each domain's mean loss."""
        return report.held_out_ratio(measured, sealed["held-out-mixtures"])

    @agreement(
        trial="sweep",
        claim="The mixture that the law, fitted to the small models, calls best for the larger one is there less than "
        "0.01 nats worse in mean loss than the best mixture tried.",
        threshold=0.01,
    )
    def best_mixture(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Paired over seeds."""
        return report.regret(measured, sealed["larger-model"])

    def tables(self, trial: str, measured: Measured, sealed: Mapping[str, Prediction]) -> list[Table]:
        return report.tables(measured, sealed)


def _dot(key: str, label: str, x: Any, y: Any) -> Curve:
    """One mark; the mixture that a person moves stands out."""
    at = np.array([float(x)]), np.array([float(y)])
    return Curve(key, label, *at, style="dots", emphasis=key == "here")


def _decade(value: float) -> int:
    return round(math.log10(value))


def _resized(entries: Sequence[float], K: int, weights: bool) -> tuple[float, ...]:
    """The entries cut or continued to K of them; weights give room to the new ones and still sum to one."""
    kept = list(entries[:K])
    new = K - len(kept)
    if not weights:
        return tuple(kept + [kept[-1]] * new)
    kept = [weight * (1 - new / K) for weight in kept] + [1 / K] * new
    total = sum(kept)
    return tuple(weight / total for weight in kept) if total > 0 else (1 / K,) * K
