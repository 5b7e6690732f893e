"""How often intervals of 90 % hold the truth, over made-up tables of a known law.

    python benchmarks/coverage.py [--tables 1000] [--only plain] [--quick]

Each table is fitted with `fit` as a person would; then every target's interval is asked for its truth. Printed: the
share of tables whose interval holds the truth, in percent, by method and target. The standard error of a share near
90 % over 1000 tables is 0.95 points.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from scipy.special import stdtrit  # noqa: E402

from explorer.fitting import Ensemble, Fit, fit  # noqa: E402
from explorer.fitting.profile import profile_rise  # noqa: E402
from explorer.fitting.target import optimal_parameters  # noqa: E402
from explorer.fitting.wild import wild  # noqa: E402
from explorer.laws import allocation, law  # noqa: E402

TRUTH = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}
LAW = law("chinchilla")
COVERAGE = 0.9
NOISE = 0.01
MEMBERS = 200
BUDGET = 6e16  # 100 times the largest of the tables
INSIDE, OUTSIDE = {"N": 1e5, "D": 1e7}, {"N": 1e7, "D": 1e9}
TARGETS = {
    "E": "E",
    "alpha": "alpha",
    "beta": "beta",
    "N*": optimal_parameters(LAW, BUDGET),
    "L inside": INSIDE,
    "L outside": OUTSIDE,
}

Columns = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator, Columns, np.ndarray], np.ndarray]


@dataclass
class Case:
    """A kind of table: where its points lie, which of them share a run, and how ln L is off."""

    name: str
    variables: Columns
    runs: np.ndarray
    draw: Draw
    delta: float = 1e-3
    gamma: float = 1.0

    @property
    def clean(self) -> np.ndarray:
        """ln L without noise."""
        return np.log(law("generalised").predict(self.variables, **TRUTH, gamma=self.gamma))

    def truth(self, asked: object) -> float:
        if isinstance(asked, str):
            return TRUTH[asked]
        if isinstance(asked, dict):
            return float(law("generalised").predict(asked, **TRUTH, gamma=self.gamma))
        return float(allocation.optimal_parameters(BUDGET, *(TRUTH[k] for k in ("A", "B", "alpha", "beta"))))


def grid(sizes: int, tokens: int) -> tuple[Columns, np.ndarray]:
    N, D = np.meshgrid(np.geomspace(1e4, 1e6, sizes), np.geomspace(1e6, 1e8, tokens), indexing="ij")
    return {"N": N.ravel(), "D": D.ravel()}, np.arange(N.size)


def ladder(sizes: int, seeds: int, checkpoints: int) -> tuple[Columns, np.ndarray]:
    """Runs whose checkpoints share an error."""
    N = np.repeat(np.geomspace(1e4, 1e6, sizes), seeds * checkpoints)
    D = np.tile(np.geomspace(1e6, 1e8, checkpoints), sizes * seeds)
    return {"N": N, "D": D}, np.repeat(np.arange(sizes * seeds), checkpoints)


def repeated(sizes: int, tokens: int, times: int) -> tuple[Columns, np.ndarray]:
    """Configurations measured several times, with one error for all of them and one for each."""
    variables, runs = grid(sizes, tokens)
    return {name: np.repeat(column, times) for name, column in variables.items()}, np.repeat(runs, times)


def gaussian(random: np.random.Generator, variables: Columns, runs: np.ndarray) -> np.ndarray:
    return random.normal(size=len(runs))


def student(random: np.random.Generator, variables: Columns, runs: np.ndarray) -> np.ndarray:
    return random.standard_t(3, size=len(runs)) / np.sqrt(3)


def uneven(random: np.random.Generator, variables: Columns, runs: np.ndarray) -> np.ndarray:
    """Six times as noisy at the fewest tokens as at the most."""
    size = (variables["D"] / variables["D"].max()) ** -0.4
    return random.normal(size=len(runs)) * size / np.sqrt(np.mean(size**2))


def shared(random: np.random.Generator, variables: Columns, runs: np.ndarray) -> np.ndarray:
    """A shift of each run as large as the noise of each point."""
    return random.normal(size=len(runs)) + random.normal(size=runs.max() + 1)[runs]


CASES = [
    Case("plain, 120 points", *grid(10, 12), gaussian),
    Case("plain, 60 points", *grid(6, 10), gaussian),
    Case("plain, 25 points", *grid(5, 5), gaussian),
    Case("plain, 120 points, least squares", *grid(10, 12), gaussian, delta=1e3),
    Case("plain, 60 points, Huber 0.01", *grid(6, 10), gaussian, delta=1e-2),
    Case("heavy tails (t with 3), 120 points", *grid(10, 12), student),
    Case("uneven noise, 120 points", *grid(10, 12), uneven),
    Case("slightly wrong law (outer exponent 0.95), 120 points", *grid(10, 12), gaussian, gamma=0.95),
    Case("clustered: 6 sizes x 3 seeds, 6 checkpoints", *ladder(6, 3, 6), shared),
    Case("clustered: 12 sizes x 2 seeds, 5 checkpoints", *ladder(12, 2, 5), shared),
    Case("clustered: 30 configurations x 3", *repeated(6, 5, 3), shared),
    Case("clustered: 6 runs, 10 checkpoints", *ladder(6, 1, 10), shared),
    Case("clustered: 6 sizes x 3 seeds, least squares", *ladder(6, 3, 6), shared, delta=1e3),
]


def by_profile(result: Fit, case: Case, names: Sequence[str], **options: Any) -> list[bool]:
    inside = []
    for name in names:
        rise, freedom = profile_rise(result, TARGETS[name], case.truth(TARGETS[name]), **options)
        inside.append(abs(rise) <= stdtrit(freedom, 0.5 + COVERAGE / 2))
    return inside


def by_members(ensemble: Ensemble, case: Case, names: Sequence[str]) -> list[bool]:
    inside = []
    for name in names:
        asked = TARGETS[name]
        if isinstance(asked, dict):
            low, high = ensemble.interval(asked, COVERAGE)
        else:
            low, high = ensemble.coefficient_interval(asked, COVERAGE)
        inside.append(bool(low <= case.truth(asked) <= high))
    return inside


WAYS: dict[str, Callable[[Fit, Case, Sequence[str], int], list[bool]]] = {
    "profile": lambda r, c, names, seed: by_profile(r, c, names),
    "profile, equal noise": lambda r, c, names, seed: by_profile(r, c, names, equal=True),
    "profile, runs": lambda r, c, names, seed: by_profile(r, c, names, clusters=c.runs),
    "resampled points": lambda r, c, names, seed: by_members(r.resample(MEMBERS, seed=seed), c, names),
    "wild": lambda r, c, names, seed: by_members(wild(r, MEMBERS, seed=seed), c, names),
    "resampled runs": lambda r, c, names, seed: by_members(
        r.resample(MEMBERS, clusters=c.runs, seed=seed), c, names
    ),
    "wild, runs": lambda r, c, names, seed: by_members(
        wild(r, MEMBERS, clusters=c.runs, seed=seed), c, names
    ),
}
QUICK = ("profile", "profile, equal noise", "profile, runs")


def covered(
    case: Case, tables: int, ways: Iterable[str], names: Sequence[str] = tuple(TARGETS), seed: int = 0
) -> dict[str, np.ndarray]:
    """Shares of the tables whose interval holds the truth, one a target, by method."""
    held = {way: np.zeros(len(names)) for way in ways}
    for table in range(tables):
        random = np.random.default_rng([seed, table])
        loss = np.exp(case.clean + NOISE * case.draw(random, case.variables, case.runs))
        result = fit(LAW, case.variables, loss, delta=case.delta)
        for way in held:
            held[way] += WAYS[way](result, case, names, table)
    return {way: count / tables for way, count in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--quick", action="store_true", help="profile likelihood only")
    options = parser.parse_args()
    for case in CASES:
        if options.only not in case.name:
            continue
        clustered = len(np.unique(case.runs)) < len(case.runs)
        ways = [way for way in WAYS if clustered or "runs" not in way]
        ways = [way for way in ways if way in QUICK or not options.quick]
        begin = time.process_time()
        shares = covered(case, options.tables, ways)
        print(f"\n{case.name} ({options.tables} tables, {time.process_time() - begin:.0f} CPU s)")
        print(" " * 24 + "".join(f"{name:>11}" for name in TARGETS))
        for way, share in shares.items():
            print(f"  {way:22}" + "".join(f"{100 * one:11.1f}" for one in share), flush=True)


if __name__ == "__main__":
    main()
