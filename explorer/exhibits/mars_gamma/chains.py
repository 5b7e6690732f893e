"""The exact second moment against many noisy chains, and the step at which real full-batch data diverge.

No free parameter: numpy only, seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from explorer.errors import BadInput
from explorer.exhibits.mars_gamma.order import place
from explorer.exhibits.mars_gamma.sizes import CHAIN_GAMMAS, CHAIN_NOISES
from explorer.exhibits.mars_gamma.stability import edge, mean_spread, stationary_spread
from explorer.records import Label, Point, PredictedCurve, Prediction, Progress, Record, Series

ROWS, COLUMNS = 64, 8  # of the regression whose divergence is sought
DIVERGENCE_STEPS = 2_000
HALVINGS = 14  # of the bracket 0.5 to 2 times the edge: to a ten-thousandth
SETTLING = 100  # steps before x^2 is looked at
TICK_SECONDS = 0.05


def chains(
    *,
    gammas: Sequence[float] = CHAIN_GAMMAS,
    noises: Sequence[float] = CHAIN_NOISES,
    eta_h: float = 0.1,
    b1: float = 0.95,
    chains: int = 20_000,
    steps: int = 600,
    seeds: int = 1,
    first_seed: int = 0,
    device: str = "cpu",
) -> Iterator[Record]:
    """Measures E x^2 of many chains, and where the noise-free update diverges.

    What is compared is x^2 averaged over the steps after the first 100: single values of x^2 have such heavy tails that
    their standard error cannot be trusted.

    Args:
        gammas: how much of the correction to keep.
        noises: standard deviations of the curvature, in units of the curvature h = 1; the gradient noise is 1.
        eta_h: step size times curvature.
        b1: decay of the moment.
        chains: independent chains a cell; the cells of one noise share their random numbers.
        steps: of each chain, from x = 0.
        seeds: 1; kept for the record.
        first_seed: of the random numbers.
        device: unused; numpy computes here.

    Yields:
        the Prediction "recursion" (exact mean of E x^2 in every cell that has a stationary spread) and
        "divergence"; a Series a cell with labels gamma, noise, exact and error (the standard error of the measured
        mean); the diverging steps as Points of one Series.

    Raises:
        BadInput: too few chains or steps, or no cell has a stationary spread.
    """
    if chains < 100 or steps <= SETTLING:
        raise BadInput(
            f"{chains:,} chains of {steps} steps were given; a mean worth comparing needs 100 chains of more than "
            f"{SETTLING} steps."
        )
    if eta_h <= 0:
        raise BadInput(f"η h = {eta_h:g} was given; a step is longer than 0.")
    kept = np.array(sorted({float(gamma) for gamma in gammas}))
    exact = {noise: _exact(kept, noise, eta_h, b1, steps) for noise in noises}
    if not any(np.isfinite(one).any() for one in exact.values()):
        raise BadInput(
            f"At η h = {eta_h:g} the spread grows without bound for every γ and noise; take a shorter step, such as "
            "η h = 0.1."
        )
    yield _recursion(kept, exact, eta_h, b1, steps)
    yield _divergence(kept, b1)

    # The chains, noise by noise: all gammas at once, on the same random numbers.
    part = 1 / (len(noises) + 1)
    for number, (noise, foreseen) in enumerate(exact.items()):
        stable = np.isfinite(foreseen)
        if not stable.any():
            continue
        course = _run_chains(kept[stable], noise, eta_h, b1, chains, steps, first_seed)
        squares = yield from _told(course, number * part, part, f"chains with curvature noise {noise:g}")
        for gamma, value, own in zip(kept[stable], foreseen[stable], squares, strict=True):
            key = f"chains noise={noise:g} γ={gamma:g}"
            error = float(own.std(ddof=1) / math.sqrt(chains))
            labels: dict[str, Label] = {"gamma": float(gamma), "noise": noise, "exact": float(value)}
            yield Series(
                key, "spread", f"measured, noise {noise:g}", {**labels, "error": error, "chains": chains}
            )
            yield Point(key, float(place(gamma)), float(own.mean()))

    # The step at which full-batch data diverge.
    yield Series("divergence", "edge", "measured divergence", {"rows": ROWS, "columns": COLUMNS})
    course = _diverging_steps(kept, b1, first_seed)
    found = yield from _told(course, 1 - part, part, "looking for the diverging step")
    for gamma, step in zip(kept, found, strict=True):
        yield Point("divergence", float(place(gamma)), float(step))
    yield Progress(1.0, note="done")


def _told(
    course: Generator[float, None, np.ndarray], begin: float, part: float, doing: str
) -> Generator[Record, None, np.ndarray]:
    """Progress now and then, from the shares that `course` yields; returns what it returns."""
    last = time.perf_counter()
    while True:
        try:
            share = next(course)
        except StopIteration as end:
            return end.value
        if time.perf_counter() - last > TICK_SECONDS:
            yield Progress(begin + share * part, note=doing)
            last = time.perf_counter()


def _exact(gammas: np.ndarray, noise: float, eta_h: float, b1: float, steps: int) -> np.ndarray:
    """The mean that the chains estimate, gamma by gamma; NaN where there is no stationary spread."""
    stable = np.isfinite(stationary_spread(gammas, eta_h, 1.0, noise, 1.0, b1))
    found = np.full(len(gammas), np.nan)
    found[stable] = mean_spread(SETTLING, steps, gammas[stable], eta_h, 1.0, noise, 1.0, b1)
    return found


def _recursion(
    gammas: np.ndarray, exact: dict[float, np.ndarray], eta_h: float, b1: float, steps: int
) -> Prediction:
    left_out = [
        f"γ = {gamma:g} at noise {noise:g}"
        for noise, values in exact.items()
        for gamma in gammas[~np.isfinite(values)]
    ]
    return Prediction(
        name="recursion",
        figure="spread",
        law="second-moment recursion",
        coefficients={"eta_h": eta_h, "b1": b1, "steps": steps},
        curves=[
            PredictedCurve(
                f"noise {noise:g}",
                f"exact, noise {noise:g}",
                place(gammas[np.isfinite(values)]).tolist(),
                values[np.isfinite(values)].tolist(),
                style="dots",
            )
            for noise, values in exact.items()
            if np.isfinite(values).any()
        ],
        note=f"E x² from x = 0, averaged over steps {SETTLING + 1} to {steps}, exactly; no free parameter."
        + (f" Without bound, so not run: {', '.join(left_out)}." if left_out else ""),
    )


def _divergence(gammas: np.ndarray, b1: float) -> Prediction:
    return Prediction(
        name="divergence",
        figure="edge",
        law="stability edge",
        coefficients={"b1": b1},
        curves=[
            PredictedCurve(
                "edge", "edge", place(gammas).tolist(), np.asarray(edge(gammas, b1)).tolist(), style="dots"
            )
        ],
        note="2 (1 + b1) / (1 - b1 + 2 γ b1).",
        details={"gammas": gammas.tolist()},
    )


def _run_chains(
    gammas: np.ndarray, noise: float, eta_h: float, b1: float, chains: int, steps: int, seed: int
) -> Generator[float, None, np.ndarray]:
    """Returns each chain's mean of x^2, (gammas, chains); yields the share that is done."""
    random = np.random.default_rng([seed, round(1e6 * noise)])
    x = np.zeros((len(gammas), chains))
    earlier, m, total = x.copy(), x.copy(), x.copy()
    keep = (gammas * b1)[:, None]
    for step in range(steps):
        curvature = 1 + noise * random.standard_normal(chains)  # one minibatch: the same at x_t and x_{t-1}
        pull = random.standard_normal(chains)
        m *= b1
        m += (1 - b1) * (curvature * x + pull) + keep * (curvature * (x - earlier))
        earlier[:] = x
        x -= eta_h * m
        if step >= SETTLING:
            total += x**2
        yield (step + 1) / steps
    return total / (steps - SETTLING)


def _diverging_steps(gammas: np.ndarray, b1: float, seed: int) -> Generator[float, None, np.ndarray]:
    """Returns the eta h_max at which a linear regression on all its data diverges; yields the share that is done."""
    random = np.random.default_rng([seed, ROWS])
    data = random.standard_normal((ROWS, COLUMNS)) * np.geomspace(1, 3, COLUMNS)
    target = data @ random.standard_normal(COLUMNS) + random.standard_normal(ROWS)
    steepest = float(np.linalg.eigvalsh(data.T @ data / ROWS)[-1])
    low, high = 0.5 * edge(gammas, b1), 2.0 * edge(gammas, b1)
    for halving in range(HALVINGS):
        middle = np.sqrt(low * high)
        grows = yield from _grows(gammas, middle / steepest, b1, data, target, halving / HALVINGS)
        low, high = np.where(grows, low, middle), np.where(grows, middle, high)
    return np.sqrt(low * high)


def _grows(
    gammas: np.ndarray, eta: np.ndarray, b1: float, data: np.ndarray, target: np.ndarray, share: float
) -> Generator[float, None, np.ndarray]:
    """Returns whether each gamma ends farther from the solution than it began; yields `share` now and then."""
    solution = np.linalg.lstsq(data, target, rcond=None)[0]
    w = np.tile(solution, (len(gammas), 1)) + 1 / math.sqrt(COLUMNS)  # at a distance of 1
    earlier, m = w.copy(), np.zeros_like(w)
    lost = np.zeros(len(gammas), bool)
    for step in range(DIVERGENCE_STEPS):
        here = (w @ data.T - target) @ data / ROWS
        there = (earlier @ data.T - target) @ data / ROWS
        m = b1 * m + (1 - b1) * (here + (gammas * b1 / (1 - b1))[:, None] * (here - there))
        earlier = w
        w = w - eta[:, None] * m
        if step % 50 == 49:
            lost |= np.abs(w - solution).max(axis=1) > 1e6
            w[lost], earlier[lost], m[lost] = solution, solution, 0.0  # what is lost need not overflow
            yield share
    return lost | (np.linalg.norm(w - solution, axis=1) > 1)
