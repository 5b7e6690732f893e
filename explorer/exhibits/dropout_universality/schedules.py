"""Dropout rates by layer at one budget, and what the theory says of them.

A schedule is a profile h_1 ... h_L of rates; its budget is their mean. Damage adds up the rate at which each layer
loses correlation, h^nu with nu = 1/3 (kinked) or 1/2 (smooth): concave, so that at a fixed mean a profile with few
layers at the maximum does least damage, wherever they are. Regularisation reach breaks the tie: a layer's noise
regularises the layers after it, as far as correlation reaches.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.errors import BadInput
from explorer.exhibits.dropout_universality.law import KINKED_RATE

MOST = 0.6
"""The highest rate of a layer."""


def _block(start: Callable[[int, int], int], share: float) -> Callable[[float, int], np.ndarray]:
    """A profile of `share` of the layers at one rate, or of as many as keep it at `MOST`, the others at zero."""

    def profile(budget: float, depth: int) -> np.ndarray:
        count = min(depth, max(math.ceil(depth * share - 1e-9), math.ceil(budget * depth / MOST - 1e-9)))
        rates = np.zeros(depth)
        first = start(depth, count)
        rates[first : first + count] = budget * depth / count
        return rates

    return profile


def _front(depth: int, count: int) -> int:
    return 0


def _middle(depth: int, count: int) -> int:
    return (depth - count) // 2


def _back(depth: int, count: int) -> int:
    return depth - count


def _late(budget: float, depth: int) -> np.ndarray:
    return budget * np.linspace(0, 2, depth) if depth > 1 else np.full(1, budget)


SCHEDULES: dict[str, Callable[[float, int], np.ndarray]] = {
    "constant": lambda budget, depth: np.full(depth, budget),
    "front half": _block(_front, 1 / 2),
    "front third": _block(_front, 1 / 3),
    "early linear": lambda budget, depth: _late(budget, depth)[::-1],
    "middle": _block(_middle, 1 / 2),
    "late linear": _late,
    "back half": _block(_back, 1 / 2),
    "double budget": lambda budget, depth: np.full(depth, 2 * budget),
    "no dropout": lambda budget, depth: np.zeros(depth),
}
RANKED = ("front half", "early linear", "middle", "constant", "late linear", "back half")
"""Those of equal budget whose order is put to the test."""
EQUAL_BUDGET = tuple(name for name in SCHEDULES if name not in ("double budget", "no dropout"))


def profile(name: str, budget: float, depth: int) -> np.ndarray:
    """The rates h_1 ... h_L of a named schedule, (L,); "double budget" and "no dropout" have another mean.

    Raises:
        BadInput: no such schedule, a depth below 1, or a budget outside 0 to 0.3.
    """
    if name not in SCHEDULES:
        raise BadInput(f"There is no schedule {name!r}; choose one of {', '.join(SCHEDULES)}.")
    if depth < 1:
        raise BadInput(f"A depth of {depth} layers was given; it has to be at least 1.")
    if not 0 <= budget <= MOST / 2:
        raise BadInput(f"A mean dropout rate of {budget:g} was given; it has to be 0 to {MOST / 2:g}.")
    return np.minimum(SCHEDULES[name](budget, depth), MOST)  # rounding may pass it


def rescaled(rates: np.ndarray, budget: float, depth: int) -> np.ndarray:
    """A profile drawn by hand, stretched to `depth` layers and scaled to the mean `budget`, no rate above `MOST`."""
    rates = np.asarray(rates, float)
    if len(rates) != depth:
        places = (np.arange(depth) + 0.5) / depth * len(rates) - 0.5
        rates = np.interp(places, np.arange(len(rates)), rates)
    if not rates.any():
        return np.full(depth, budget)
    rates = rates / rates.max()
    rates = rates * (budget / rates.mean())
    while (
        rates.max() > MOST
    ):  # what is cut off goes to the others in proportion, or evenly where they have none
        full = rates >= MOST
        missing = budget * depth - MOST * full.sum()
        others = rates[~full]
        share = others / others.sum() if others.any() else np.full(len(others), 1 / len(others))
        rates[full], rates[~full] = MOST, missing * share
    return rates


def damage(rates: np.ndarray, exponent: float) -> float:
    """D, the mean of h^nu over layers."""
    return float(np.mean(np.asarray(rates, float) ** exponent))


def effective_depth_scale(rates: np.ndarray, g: float = math.inf) -> float:
    """1 / (a D) in layers: a = sqrt(2 g), nu = 1/2; with a kink (g infinite) a = KINKED_RATE, nu = 1/3."""
    rate = KINKED_RATE * damage(rates, 1 / 3) if math.isinf(g) else math.sqrt(2 * g) * damage(rates, 1 / 2)
    return 1 / rate if rate > 0 else math.inf


def reach_weights(depth: int, xi: float) -> np.ndarray:
    """w_l = xi (1 - exp(-(L - l) / xi)), l = 1 ... L: layers that feel layer l's noise, (L,)."""
    after = depth - np.arange(1, depth + 1.0)
    return after if math.isinf(xi) else -xi * np.expm1(-after / xi)


def reach(rates: np.ndarray, budget: float, g: float = math.inf) -> float:
    """V, the sum of w_l h_l, with the depth scale of constant dropout at this budget."""
    rates = np.asarray(rates, float)
    xi = effective_depth_scale(np.full(1, budget), g)
    return float(reach_weights(len(rates), xi) @ rates)


def relative_reach(rates: np.ndarray, budget: float, g: float = math.inf) -> float:
    """V over that of constant dropout; nan where nothing follows that could be reached, or there is no dropout."""
    constant = reach(np.full(len(rates), budget), budget, g)
    return reach(rates, budget, g) / constant if constant > 0 else math.nan


def front_ratio(s: float, share: float) -> float:
    """R, in the continuum V of the first `share` of the layers over that of constant dropout, at s = L / xi.

    (1/f) [f - (exp(-s (1 - f)) - exp(-s)) / s] / [1 - (1 - exp(-s)) / s]; 2 - f at s = 0, 1 at infinity.
    """
    if s < 1e-4:
        return 2 - share
    if math.isinf(s):
        return 1.0
    front = share - math.exp(-s) * math.expm1(s * share) / s if s < 700 else share
    return front / share / (1 + math.expm1(-s) / s)
