"""Dropout as a field that acts on depth, schedules of dropout at one budget, and the runs that put them to the test."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.agreement import paired_difference
from explorer.errors import BadInput
from explorer.exhibits import (
    Axis,
    Choice,
    Comparison,
    Count,
    Curve,
    Exhibit,
    Paper,
    Profile,
    Quantity,
    Readout,
    Table,
    agreement,
    figure,
    trial,
)
from explorer.exhibits.dropout_universality import law, outcome, sizes
from explorer.exhibits.dropout_universality.law import CorrelationMap
from explorer.exhibits.dropout_universality.ranking import kendall_tau, sign_test, tau_interval
from explorer.exhibits.dropout_universality.schedules import (
    EQUAL_BUDGET,
    MOST,
    RANKED,
    SCHEDULES,
    damage,
    effective_depth_scale,
    front_ratio,
    profile,
    reach_weights,
    relative_reach,
    rescaled,
)
from explorer.records import Measured, Prediction

TUNED, AS_SET = "tuned", "as-set"
CUSTOM = "custom"
FEWEST_LAYERS = 30
"""Layers that correlations are followed through, at least: several depth scales."""
REFERENCE_WIDTH = 1024
FIELD = {"p", "activation", "critical", "sw2", "sb2"}
BUDGET = {"depth", "hbar", "schedule", "h"}
SHOWN_RATES = np.concatenate([np.logspace(-4, -1, 13), [0.16, 0.25, 0.35, 0.5]])
COLLAPSED = slice(0, 13, 4)
"""Of those the rates 0.0001, 0.001, 0.01, 0.1."""
COLLAPSED_DETUNINGS = np.linspace(-2, 2, 7)
C = 1 - np.concatenate([np.linspace(1, 0.1, 46), np.linspace(0.1, 0, 41)[1:]])
M = np.logspace(-5, 0, 81)
H = np.logspace(-4, 0, 2)

NO_MAP = (
    "No weight variance makes chi = 1 for this activation, dropout rate and bias variance. Lower the rate, choose "
    "another activation, or set the weight variance yourself."
)
TEST_LOSS = Axis("test loss", "nats/image")


@functools.lru_cache(maxsize=8)
def _critical_line(reading: str, sb2: float) -> CorrelationMap:
    """The critical maps of an activation at `SHOWN_RATES`."""
    return law.critical_maps(reading, SHOWN_RATES, sb2)


@functools.lru_cache(maxsize=8)
def _collapsed(reading: str, sb2: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scaled detuning and scaled gap of the full map, for each of the `COLLAPSED` rates."""
    reading = "ReLU-formal" if reading == "ReLU-He" else reading
    line = _critical_line(reading, sb2)
    unit = law.K ** (2 / 3) * line.h ** (1 / 3) if line.activation.kinked else np.sqrt(2 * line.g * line.h)
    t = -(unit[COLLAPSED, None] * COLLAPSED_DETUNINGS).ravel()
    rates = np.repeat(SHOWN_RATES[COLLAPSED], len(COLLAPSED_DETUNINGS))
    found = law.critical_maps(reading, rates, sb2, np.nan_to_num(t))
    shape = (-1, len(COLLAPSED_DETUNINGS))
    x, y = (one.reshape(shape) for one in _scaled(found, found.fixed_gap))
    return list(zip(x, y, strict=True))


def _scaled(found: CorrelationMap, m: Any) -> tuple[Any, Any]:
    """Scaled detuning (tau or u) and scaled gap of a map with h > 0."""
    if found.activation.kinked:
        return -found.t / (law.K ** (2 / 3) * found.h ** (1 / 3)), m * (law.K / found.h) ** (2 / 3)
    return -found.t / np.sqrt(2 * found.g * found.h), m * np.sqrt(found.g / (2 * found.h))


@functools.lru_cache(maxsize=64)
def _map(reading: str, critical: str, p: float, sw2: float, sb2: float) -> CorrelationMap | None:
    """The map of the sliders; None where no weight variance is critical."""
    if critical == AS_SET or reading.startswith("ReLU") or (p == 0 and sb2 == 0):
        return law.correlation_map(reading, p, sw2, sb2)
    # The critical q* itself: GELU's is left by the variance, which would flow to another.
    found = law.critical_maps(reading, np.array([p]), sb2)
    if math.isnan(found.q[0]):
        return None
    return CorrelationMap(found.activation, p, float(found.sw2[0]), float(found.q[0]))


@functools.lru_cache(maxsize=64)
def _tuned(reading: str, p: float, sb2: float) -> float | None:
    try:
        return law.critical_weights(reading, p, sb2)
    except BadInput:
        return None


class DropoutUniversality(Exhibit):
    """Does front-loading dropout help at the same budget?

    Two halves share a page: how dropout parts two inputs in a random network (p, activation, variances), and what a
    schedule of rates by layer does at one mean rate (depth, mean, schedule). The second is trained.
    """

    slug = "dropout-universality"
    rank = 2
    paper = Paper(
        title="Dropout Universality: Scaling Laws and Optimal Scheduling at the Edge-of-Chaos",
        authors="Lucas Fernandez Sarmiento",
        venue="ICML 2026",
        arxiv="2605.21648",
    )
    presets = {
        "CIFAR-10 network: 6 layers, sw2 = 1.98, sb2 = 0.02, mean 0.1": {
            "activation": "ReLU-He",
            "critical": AS_SET,
            "sw2": 1.98,
            "sb2": 0.02,
            "p": 0.1,
            "depth": 6,
            "hbar": 0.1,
            "schedule": "front third",
        },
        "He initialisation, mean 0.15, of the sweep of budgets": {
            "activation": "ReLU-He",
            "critical": AS_SET,
            "sw2": 2.0,
            "sb2": 0.0,
            "p": 0.15,
            "depth": 6,
            "hbar": 0.15,
            "schedule": "front third",
        },
        "Critical tanh, sb2 = 0.1": {"activation": "tanh", "critical": TUNED, "sb2": 0.1, "p": 0.1},
        "Critical erf, sb2 = 0.05": {"activation": "erf", "critical": TUNED, "sb2": 0.05, "p": 0.01},
    }

    p = Quantity(0.1, bounds=(0, 0.5), label="dropout rate of every layer", scale="log", zero_below=1e-4)
    activation = Choice(
        list(law.READINGS),
        label="activation",
        group="law",
        doc="ReLU-He is what a ReLU network does; ReLU-formal keeps chi = 1, which no network with dropout can.",
    )
    critical = Choice(
        [TUNED, AS_SET],
        label="weight variance",
        group="law",
        doc="tuned: sw2 follows, so that chi = 1 (for ReLU-He, whose chi is 1 - p, so that the variance stays).",
    )
    sw2 = Quantity(
        law.critical_weights("tanh", 0.1, 0.1),
        bounds=(0.5, 6),
        softbounds=(0.5, 4),
        label="weight variance × width",
    )
    sb2 = Quantity(0.1, bounds=(0, 0.5), label="bias variance", step=0.005)
    c0 = Quantity(1.0, bounds=(0, 1), label="correlation of the two inputs", step=0.001)

    depth = Count(6, bounds=(1, 64), label="layers L", group="schedule")
    hbar = Quantity(0.1, bounds=(0, 0.3), label="mean dropout rate, the budget", step=0.005, group="schedule")
    schedule = Choice(
        [*(name for name in SCHEDULES if name != "no dropout"), CUSTOM],
        label="where the dropout goes",
        group="schedule",
    )
    h = Profile((0.1,) * 6, bounds=(0, MOST), label="dropout rate by layer", hold_mean=True, group="schedule")

    noise = Quantity(0.2, bounds=(0, 0.5), label="share of random labels", step=0.05, group="training")
    seeds = Count(8, bounds=(2, 16), label="seeds of each schedule")
    first_seed = Count(0, bounds=(0, 1000), label="first seed")
    N = Count(1024, bounds=(32, 2048), label="width of the random networks", scale="log")

    # -- what follows what --------------------------------------------------------------------------------------

    def settle(self, changed: set[str]) -> dict[str, Any]:
        return self._settle_weights(changed) | self._settle_schedule(changed)

    def _settle_weights(self, changed: set[str]) -> dict[str, Any]:
        """The critical sw2 follows the other sliders; a sw2 that was set by hand stands."""
        found: dict[str, Any] = {}
        sb2 = self.sb2
        if "activation" in changed and "sb2" not in changed:
            relu = self.activation.startswith("ReLU")
            found["sb2"] = sb2 = 0.0 if relu else sb2 or 0.1
        if not changed & FIELD or self.critical == AS_SET:
            return found
        tuned = _tuned(self.activation, self.p, sb2)
        if tuned is None:
            return found
        by_hand = "sw2" in changed and "critical" not in changed
        if by_hand and not math.isclose(self.sw2, tuned, rel_tol=1e-6):
            return found | {"critical": AS_SET}
        return found | {"sw2": tuned}

    def _settle_schedule(self, changed: set[str]) -> dict[str, Any]:
        """Rates follow schedule, budget and depth; those drawn by hand make a schedule and a budget of their own."""
        if not changed & BUDGET:
            return {}
        schedule, drawn = self.schedule, np.array(self.h)
        if "h" in changed and "schedule" not in changed and schedule != CUSTOM:
            implied = profile(schedule, self.hbar, self.depth)
            if not type(self).param.h.same(self.h, tuple(implied)):
                schedule = CUSTOM
        if schedule != CUSTOM:
            return {"h": tuple(profile(schedule, self.hbar, self.depth).tolist())}
        if "h" in changed or not changed & {"hbar", "depth"}:
            budget = min(float(drawn.mean()), MOST / 2)
            depth = len(drawn)
        else:
            budget, depth = self.hbar, self.depth
        rates = drawn
        if depth != len(drawn) or not math.isclose(drawn.mean(), budget, rel_tol=1e-9, abs_tol=1e-12):
            rates = rescaled(drawn, budget, depth)
        return {"schedule": schedule, "hbar": budget, "depth": depth, "h": tuple(rates.tolist())}

    def entry_presets(self, name: str) -> dict[str, tuple[float, ...]]:
        """Schedules of equal budget, to start drawing from."""
        names = ("constant", "front half", "front third", "early linear", "back half")
        return {one: tuple(profile(one, self.hbar, self.depth).tolist()) for one in names}

    # -- predict: dropout as a field ------------------------------------------------------------------------------

    @property
    def _field(self) -> CorrelationMap | None:
        return _map(self.activation, self.critical, self.p, self.sw2, self.sb2)

    @figure(
        "The correlation map",
        x=Axis("correlation before a layer", low=0, high=1),
        y=Axis("after it", low=0, high=1),
        needs=FIELD | {"c0"},
        caption="Where the map crosses the diagonal, correlation settles. Without dropout it ends at (1, 1); dropout "
        "lowers that end by h and drags the crossing c* down with it. Stairs: layer after layer from c0.",
        empty=NO_MAP,
    )
    def cobweb(self) -> list[Curve]:
        field = self._field
        if field is None:
            return []
        after = 1 - field.gap(1 - C)
        normal = 1 - field.normal_form(1 - C)
        m = float(field.fixed_gap)
        here, path_x, path_y = self.c0, [self.c0], [0.0]
        for _ in range(20):
            there = 1 - float(field.gap(1 - here))
            path_x += [here, there]
            path_y += [there, there]
            if abs(there - here) < 1e-3:
                break
            here = there
        stairs_x, stairs_y = (
            np.full(41, np.nan),
            np.full(41, np.nan),
        )  # of one length, so that only data moves
        stairs_x[: len(path_x)], stairs_y[: len(path_y)] = path_x, path_y
        return [
            Curve("diagonal", "", C, C, style="dotted", tone=0.3),
            Curve("map", "F(c)", C, after, emphasis=True),
            Curve("normal form", "normal form", C, np.where(normal >= 0, normal, np.nan), style="dashed"),
            Curve("stairs", "layer by layer", stairs_x, stairs_y),
            Curve("end", "F(1) = 1 - h", np.ones(1), np.array([1 - float(field.h)]), style="dots"),
            Curve("fixed point", "c*", np.array([1 - m]), np.array([1 - m]), style="dots", emphasis=True),
        ]

    @figure(
        "The same map near perfect alignment",
        x=Axis("1 - c before a layer", scale="log", low=1e-5, high=1),
        y=Axis("1 - c after it", scale="log", low=1e-5, high=1),
        needs=FIELD,
        caption="The corner at (1, 1), opened up: both axes count from perfect alignment. The map leaves the diagonal "
        "for the level h; they meet at m* = 1 - c*.",
        empty=NO_MAP,
    )
    def corner(self) -> list[Curve]:
        field = self._field
        if field is None:
            return []
        m = float(field.fixed_gap)
        gap, normal = field.gap(M), field.normal_form(M)
        return [
            Curve("diagonal", "", M, M, style="dotted", tone=0.3),
            Curve("map", "1 - F(1 - m)", M, _inside(gap), emphasis=True),
            Curve("normal form", "normal form", M, _inside(normal), style="dashed"),
            _dot("fixed point", "m*", m if m > 0 else math.nan, m),
        ]

    @figure(
        "Correlation by depth",
        x=Axis("layer"),
        y=Axis("correlation of two inputs", low=-0.05, high=1.05),
        needs=FIELD | {"c0", "depth"},
        caption="Two inputs of correlation c0, each under its own masks, every layer at rate p. Dots of a run: random "
        "networks of finite width. The dot on the curve is layer L.",
        empty=NO_MAP,
    )
    def correlation(self) -> list[Curve]:
        field = self._field
        if field is None:
            return []
        layers, c = self._by_layer(field)
        m, normal = 1 - self.c0, []
        for _ in layers:
            normal.append(1 - m)
            m = min(max(float(field.normal_form(m)), 0.0), 1.0)
        c_star = 1 - float(field.fixed_gap)
        ends = layers[[0, -1]]
        return [
            Curve("theory", "theory, infinite width", layers, c, emphasis=True),
            Curve("normal form", "normal form", layers, np.array(normal), style="dashed"),
            Curve("fixed point", "c*", ends, np.full(2, c_star), style="dotted"),
            _dot("here", "layer L", self.depth, c[self.depth]),
        ]

    def _by_layer(self, field: CorrelationMap) -> tuple[np.ndarray, np.ndarray]:
        """Layers 0 ... and the theory's correlation after each."""
        last = max(self.depth, FEWEST_LAYERS)
        start = self._start_variance(field)
        sw2 = float(field.sw2) if self._settled(field) else self.sw2
        c = law.correlations(self.activation, self.p, sw2, self.sb2, self.c0, start, last)
        return np.arange(last + 1.0), c

    def _settled(self, field: CorrelationMap) -> bool:
        """Whether the variance has a fixed point away from zero and infinity that the map uses."""
        return field.activation is law.READINGS[self.activation] and not field.activation.kinked

    def _start_variance(self, field: CorrelationMap) -> float:
        return float(field.q) if self._settled(field) else 1.0

    @figure(
        "Loss of alignment against the field",
        x=Axis("field h = 1 - F(1)", scale="log", low=1e-4, high=1),
        y=Axis("m* = 1 - c*", scale="log", low=1e-3, high=2),
        needs=FIELD,
        caption="The critical line as p runs from 0.0001 to 0.5. Dotted: slopes 1/2 (smooth) and 2/3 (kinked). The dot "
        "is the network of the sliders.",
    )
    def alignment(self) -> list[Curve]:
        line, field = _critical_line(self.activation, self.sb2), self._field
        dot = _dot("here", "the sliders", *((field.h, field.fixed_gap) if field else (math.nan, math.nan)))
        return [
            Curve("map", self.activation, line.h, line.fixed_gap, emphasis=True),
            Curve("normal form", "normal form", line.h, line.normal_gap, style="dashed"),
            Curve("1/2", "slope 1/2", H, 2.0 * H**0.5, style="dotted"),
            Curve("2/3", "slope 2/3", H, (H / law.K) ** (2 / 3), style="dotted"),
            dot,
        ]

    @figure(
        "Depth scale against the field",
        x=Axis("field h = 1 - F(1)", scale="log", low=1e-4, high=1),
        y=Axis("depth scale ξ", "layers", scale="log", low=0.5, high=200),
        needs=FIELD,
        caption="How many layers a memory of the input lasts, along the critical line. Without dropout it would be for "
        "ever. Dotted: slopes -1/2 (smooth) and -1/3 (kinked).",
    )
    def memory(self) -> list[Curve]:
        line, field = _critical_line(self.activation, self.sb2), self._field
        dot = _dot("here", "the sliders", *((field.h, field.depth_scale) if field else (math.nan, math.nan)))
        return [
            Curve("map", self.activation, line.h, _inside(line.depth_scale), emphasis=True),
            Curve("normal form", "normal form", line.h, line.normal_depth_scale, style="dashed"),
            Curve("1/2", "slope -1/2", H, H**-0.5, style="dotted"),
            Curve("1/3", "slope -1/3", H, H ** (-1 / 3) / law.KINKED_RATE, style="dotted"),
            dot,
        ]

    @figure(
        "Collapse onto one curve a class",
        x=Axis("scaled detuning", low=-2.3, high=2.3),
        y=Axis("scaled m*", low=0, high=5),
        needs=FIELD,
        caption="Lines: the two master curves. Dots: the full map at four rates; they slide onto their curve as the "
        "rate falls, slowest on the left, where chi > 1.",
        shown=False,
    )
    def collapse(self) -> list[Curve]:
        x = np.linspace(-2.3, 2.3, 47)
        kinked = law.READINGS[self.activation].kinked
        curves = [
            Curve("smooth", "smooth", x, law.smooth_collapse(x), emphasis=not kinked),
            Curve("kinked", "kinked", x, law.kinked_collapse(x), emphasis=kinked),
        ]
        for k, (u, y) in enumerate(_collapsed(self.activation, self.sb2)):
            label = f"p = {SHOWN_RATES[COLLAPSED][k]:g}"
            curves.append(Curve(label, label, u, y, style="dots", tone=k / 3))
        field = self._field
        inside = field is not None and float(field.h) > 0 and float(field.g) > 0
        here = _scaled(field, field.fixed_gap) if field and inside else (math.nan, math.nan)
        return [*curves, _dot("here", "the sliders", *here)]

    # -- predict: schedules -----------------------------------------------------------------------------------------

    @figure(
        "The schedule",
        x=Axis("layer"),
        y=Axis("dropout rate", low=0, high=0.65),
        needs=BUDGET,
        caption="Rates by layer, all with the mean of the budget. Dotted: the weight that the reach gives a layer's "
        "noise, scaled; it counts the layers behind that can still feel it.",
    )
    def rates(self) -> list[Curve]:
        depth = len(self.h)
        places = np.arange(float(depth))
        names = tuple(str(k) for k in range(1, depth + 1)) if depth <= 24 else ()
        weights = reach_weights(depth, self._constant_scale())
        scaled = weights / weights.max() * 0.6 if weights.max() > 0 else weights
        return [
            Curve("rates", "h", places, np.array(self.h), style="bars", names=names),
            Curve("mean", "budget", places, np.full(depth, self.hbar), style="dashed"),
            Curve("weights", "reach weight", places, scaled, style="dotted"),
        ]

    @figure(
        "Regularisation reach of schedules at this budget",
        x=Axis("schedule"),
        y=Axis("V over constant's", low=0, high=2),
        needs=BUDGET,
        caption="The theory's order: the larger V, the lower the test loss should be. For ReLU networks, as they are "
        "trained here.",
        empty="With a budget of 0, or one layer only, all schedules are the same: raise the mean rate or the depth.",
    )
    def reach(self) -> list[Curve]:
        values = {name: self._reach_of(profile(name, self.hbar, self.depth)) for name in EQUAL_BUDGET}
        if self.schedule == CUSTOM:
            values[CUSTOM] = self._reach_of(np.array(self.h))
        order = sorted(values, key=lambda name: -values[name])
        height = np.array([values[name] for name in order])
        places = np.arange(float(len(order)))
        curves = [Curve("reach", "V / V constant", places, height, style="bars", names=tuple(order))]
        if self.schedule in order:
            at = order.index(self.schedule)
            curves.append(
                Curve("chosen", self.schedule, places[[at]], height[[at]], style="bars", emphasis=True)
            )
        return curves

    @figure(
        "What a schedule does to one input",
        x=Axis("layer"),
        y=Axis("correlation of two passes", low=0, high=1.02),
        needs=BUDGET,
        caption="One input sent twice through a ReLU network (He's initialisation), each pass with its own masks. "
        "Layers without dropout bring the passes together again.",
    )
    def passes(self) -> list[Curve]:
        names = ("constant", "front half", "early linear", "back half")
        stacked = np.array([*(profile(name, self.hbar, self.depth) for name in names), self.h])
        found = law.self_correlations(stacked)
        layers = np.arange(1.0, self.depth + 1)
        curves = [Curve(name, name, layers, c) for name, c in zip(names, found[:-1], strict=True)]
        return [*curves, Curve("chosen", "the schedule", layers, found[-1], style="dashed", emphasis=True)]

    @figure(
        "Test loss while they train",
        x=Axis("epoch"),
        y=TEST_LOSS,
        needs=(),
        live=True,
        caption="Means over seeds, measured without dropout. Networks of one seed share their initial weights, images, "
        "labels, batches and the luck of their masks.",
    )
    def losses(self) -> list[Curve]:
        return []

    @figure(
        "Where they end, against the theory's order",
        x=Axis("reach V over constant's", low=0.3, high=1.8),
        y=Axis("final loss over constant's"),
        needs=(),
        live=True,
        caption="One dot a network, over the one of constant dropout with the same seed. If the order is right, the "
        "dots fall from left to right.",
    )
    def final_losses(self) -> list[Curve]:
        return []

    @figure(
        "Training loss",
        x=Axis("epoch"),
        y=Axis("training loss", "nats/image", scale="log"),
        needs=(),
        live=True,
        caption="Means over seeds, without dropout, on wrong labels too. Far below the test loss is over-fitted, the "
        "regime of the claim.",
    )
    def training_losses(self) -> list[Curve]:
        return []

    @figure(
        "Test loss of every network",
        x=Axis("epoch"),
        y=TEST_LOSS,
        needs=(),
        live=True,
        caption="One dot a network and measurement: what the verdicts and the table are made of.",
    )
    def networks(self) -> list[Curve]:
        return []

    def _constant_scale(self) -> float:
        return effective_depth_scale(np.full(1, self.hbar))

    def _reach_of(self, rates: np.ndarray) -> float:
        return relative_reach(rates, self.hbar) if self.hbar > 0 else math.nan

    def readouts(self) -> list[Readout]:
        return [*self._field_readouts(), *self._schedule_readouts()]

    def _field_readouts(self) -> list[Readout]:
        field = self._field
        if field is None:
            sentence = law.no_critical_weights(self.activation, self.p, self.sb2)
            return [Readout("no map", text=sentence, doc="Why there is nothing to draw")]
        m = field.fixed_gap
        xi = float(field.depth_scale)
        normal = float(field.normal_gap)
        off = normal / float(m) - 1 if m > 0 else 0.0
        found = [
            Readout("field h", float(field.h), doc="1 - F(1): what two masks take from identical inputs"),
            Readout("c*", 1 - float(m), doc="Correlation that deep layers settle at"),
            Readout("m* = 1 - c*", float(m)),
            Readout("depth scale ξ", xi, "layers", "for ever" if math.isinf(xi) else ""),
            Readout("L/ξ", self.depth / xi, doc="Depth in units of the depth scale"),
            Readout(
                "χ = F'(1)",
                float(field.chi),
                doc="1 is the edge of chaos; a He network with dropout has 1 - p",
            ),
        ]
        if not field.activation.kinked:
            found.append(Readout("g = F''(1)", float(field.g)))
            found.append(Readout("q*", float(field.q), doc="Variance that pre-activations settle at"))
        found.append(Readout("normal form's m*", normal, "", f"{normal:.4g} ({off:+.0%})"))
        word = "kinked: 2/3, 1/3" if field.activation.kinked else "smooth: 1/2, 1/2"
        found.append(
            Readout("class", text=word, doc="Powers of h by which m* rises and ξ falls at criticality")
        )
        if note := self._note(field):
            found.append(Readout("note", text=note))
        return found

    def _note(self, field: CorrelationMap) -> str:
        """What a person has to know about this map beyond its numbers."""
        if self.activation == "ReLU-formal" and self.p > 0 and float(field.chi) >= 1 - self.p:
            return "formal: with chi of at least 1 - p a ReLU network has no finite variance"
        if math.isnan(field.fixed_gap):
            return "the formal map leaves [-1, 1] before it meets the diagonal"
        if field.activation is not law.READINGS[self.activation]:
            word = (
                "vanishes: the network is linear" if field.activation is law.LINEAR else "grows: it is a ReLU"
            )
            return f"the variance {word}"
        if not field.activation.kinked and float(field.variance_slope) > 1 + 1e-9:
            return "the variance leaves this q* slowly; only a network that starts at it follows this map"
        return ""

    def _schedule_readouts(self) -> list[Readout]:
        rates, s = np.array(self.h), len(self.h) / self._constant_scale()
        spread = float(np.mean(rates / (1 - rates)))
        even = self.hbar / (1 - self.hbar)
        return [
            Readout("damage D", damage(rates, 1 / 3), doc="Mean of h^(1/3) over layers: the kinked class"),
            Readout("ξ_eff", effective_depth_scale(rates), "layers", doc="1 / (0.672 D): ReLU networks"),
            Readout("V / V constant", self._reach_of(rates), doc="Regularisation reach of the schedule"),
            Readout(
                "R(L/ξ, 1/2)", front_ratio(s, 1 / 2), doc="The same for the front half of a deep network"
            ),
            Readout(
                "noise over constant",
                spread / even if even > 0 else 1.0,
                doc="Mean of h / (1 - h), the variance of the masks, over that of constant dropout: the same mean rate "
                "is not the same noise",
            ),
        ]

    # -- train ---------------------------------------------------------------------------------------------------------

    @trial(
        figures=("losses", "final_losses", "training_losses", "reach", "networks"),
        seconds={"quick": 15, "default": 40, "large": 900},
        title="Train every schedule on digits, at one budget",
    )
    def schedules(self, size: str) -> dict[str, Any]:
        if not 4 <= self.depth <= sizes.DEEPEST:
            raise BadInput(
                f"Schedules of {self.depth} layers were asked for; runs take 4 to {sizes.DEEPEST}: fewer have no "
                "front, middle and back, and more would not end in time."
            )
        seeds = min(self.seeds, sizes.QUICK_SEEDS) if size == "quick" else self.seeds
        return {
            **sizes.SCHEDULES[size],
            **self._race([*RANKED, "no dropout"] if size == "quick" else list(SCHEDULES)),
            "depth": self.depth,
            "seeds": max(seeds, 25) if size == "large" else seeds,
        }

    @trial(
        figures=("correlation",),
        seconds={"quick": 8, "default": 16, "large": 120},
        title="Send pairs of inputs through random networks",
        experiment="propagate",
    )
    def propagation(self, size: str) -> dict[str, Any]:
        field = self._field
        if field is None:
            raise BadInput(law.no_critical_weights(self.activation, self.p, self.sb2))
        if self.activation == "ReLU-formal":
            raise BadInput("No network follows the formal reading of ReLU; choose the activation ReLU-He.")
        return {
            **sizes.PROPAGATION[size],
            "activation": law.READINGS[self.activation].name,
            "p": self.p,
            "sw2": float(field.sw2) if self._settled(field) else self.sw2,
            "sb2": self.sb2,
            "c0": self.c0,
            "q0": self._start_variance(field),
            "width": self.N,
            "depth": max(self.depth, FEWEST_LAYERS),
            "first_seed": self.first_seed,
        }

    @trial(
        figures=("losses", "final_losses", "training_losses", "networks"),
        seconds={"quick": 15, "default": 75, "long": 300, "large": 1200},
        title="The same with tiny vision transformers",
    )
    def transformer(self, size: str) -> dict[str, Any]:
        names = ["constant", "front half", "back half"]
        if size in ("long", "large"):
            names += ["early linear", "no dropout"]
        return {
            **self._race(names),
            **sizes.TRANSFORMER[size],
            "noise": 0.0,
            "learning_rate": 3e-3,
            "transformer": True,
            "seeds": sizes.TRANSFORMER_SEEDS[size],
        }

    def _race(self, conditions: list[str]) -> dict[str, Any]:
        if self.hbar <= 0:
            raise BadInput("With a mean dropout rate of 0 all schedules are the same; raise the budget.")
        return {
            "conditions": conditions,
            "custom": list(self.h) if self.schedule == CUSTOM else None,
            "budget": self.hbar,
            "first_seed": self.first_seed,
            "noise": self.noise,
        }

    # -- compare ---------------------------------------------------------------------------------------------------

    @agreement(
        trial="schedules",
        claim="Over the six schedules of equal budget, Kendall's tau between the reach V, sealed before the run, and "
        "the order of the final test losses is at least 0.7.",
        threshold=0.7,
        sense="above",
    )
    def order(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Of the means over seeds; the interval redraws those means as their scatter over seeds allows."""
        details = sealed["order"].details
        finals, bests = outcome.ends(measured)
        names = [name for name in details["ranked"] if name in finals]
        if len(names) < len(details["ranked"]) or len(names) < 2:
            return Comparison(math.nan, None, 0, 0, "Not all schedules were trained.")
        reach = np.array([details["reach"][name] for name in names])
        found = np.array([finals[name] for name in names]).T
        by_loss = sorted(names, key=lambda name: finals[name].mean())
        return Comparison(
            value=float(kendall_tau(reach, -found.mean(axis=0))),
            interval=tau_interval(reach, -found),
            seeds=len(found),
            points=found.size,
            scope=f"From the lowest final test loss: {', '.join(by_loss)}. Early-stopped, tau is "
            f"{kendall_tau(reach, -np.array([bests[name].mean() for name in names])):.2f}. {outcome.regime(measured)}",
            baselines={
                simple: float(kendall_tau(np.array([guess[name] for name in names]), -found.mean(axis=0)))
                for simple, guess in details["baselines"].items()
            },
        )

    @agreement(
        trial="schedules",
        claim="Dropout in the back half ends with a higher test loss than constant dropout: the mean paired "
        "difference, in % of constant, is above 0.",
        threshold=0.0,
        sense="above",
    )
    def back_is_worse(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        return outcome.back_against_constant(measured)

    @agreement(
        trial="schedules",
        claim="It does so with every seed: the smallest of the paired differences, in %, is above 0.",
        threshold=0.0,
        sense="above",
    )
    def back_is_worse_each_time(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        finals, _ = outcome.ends(measured)
        if not {"back half", "constant"} <= set(finals):
            return Comparison(math.nan, None, 0, 0, "Not all schedules were trained.")
        found = 100 * (finals["back half"] / finals["constant"] - 1)
        worse = int((found > 0).sum())
        return Comparison(
            float(found.min()),
            None,
            len(found),
            2 * len(found),
            f"Worse in {worse} of {len(found)} seeds; sign test p = {sign_test(worse, len(found)):.3g}.",
        )

    @agreement(
        trial="propagation",
        claim="The largest gap over layers between the networks' mean correlation and the theory, times the root of "
        "N / 1024, is below 0.03.",
        threshold=0.03,
    )
    def gap(self, measured: Measured, sealed: Mapping[str, Prediction]) -> Comparison:
        """Each network is one seed. The interval takes every layer's own Student interval of the mean, the widest."""
        theory = np.array(sealed["sliders"].curve("theory").y)
        networks = [(series, y) for series, _, y in measured if len(y) == len(theory)]
        if len(networks) < 2:
            return Comparison(
                math.nan, None, len(networks), 0, "Fewer than two networks were measured whole."
            )
        c = np.array([y for _, y in networks])
        width = float(networks[0][0].labels["width"])
        scale = math.sqrt(width / REFERENCE_WIDTH)
        off = np.abs(c.mean(axis=0) - theory)
        reach = np.array([paired_difference(one.tolist(), [0.0] * len(one)).interval for one in c.T])
        half = (reach[:, 1] - reach[:, 0]) / 2
        worst = int(off.argmax())
        return Comparison(
            value=scale * float(off.max()),
            interval=(scale * float(np.maximum(off - half, 0).max()), scale * float((off + half).max())),
            seeds=len(c),
            points=c.size,
            scope=f"Width {width:,.0f}; widest at layer {worst}: {c[:, worst].mean():.4f} measured, "
            f"{theory[worst]:.4f} predicted. At the last layer {c[:, -1].mean():.4f} and {theory[-1]:.4f}.",
        )

    @agreement(
        trial="transformer",
        claim="Dropout in the back half of a vision transformer ends with a higher test loss than constant dropout: "
        "the mean paired difference, in % of constant, is above 0.",
        threshold=0.0,
        sense="above",
    )
    def back_is_worse_in_transformers(
        self, measured: Measured, sealed: Mapping[str, Prediction]
    ) -> Comparison:
        return outcome.back_against_constant(measured)

    def tables(self, trial: str, measured: Measured, sealed: Mapping[str, Prediction]) -> list[Table]:
        """Final and early-stopped losses side by side; the front schedules are reported here, not judged."""
        return [] if trial == "propagation" else outcome.tables(measured, sealed)


def _inside(m: np.ndarray) -> np.ndarray:
    """What a log axis can show."""
    return np.where(m > 1e-6, m, np.nan)


def _dot(key: str, label: str, x: Any, y: Any) -> Curve:
    """One marked point; nothing where a coordinate is not a number, or not above zero on both axes."""
    return Curve(key, label, np.array([float(x)]), np.array([float(y)]), style="dots", emphasis=True)
