"""Fitting the Chinchilla law: the usual recipe beside this package's, same points, same process, one thread.

    python benchmarks/fit.py [table.csv] [--skip 5] [--starts 60] [--all] [--resamples 4000]

The usual recipe is that of Hoffmann et al. 2022: the sum of Huber losses of ln L, minimised by a scipy solver from
each of 4,500 starts on a grid, the best kept. Here it is written as well as plain numpy allows, with the exact
gradient, and once as it is often written, with scipy's gradient by differences. A random part of the starts is run
and the time of all of them extrapolated; --all runs all. The table is Epoch's reconstruction of the points of that
paper (245 rows; the replication leaves out the first 5); without a path a made-up table of its shape is fitted.

Seconds are CPU seconds of this process.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse  # noqa: E402
import itertools  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import minimize  # noqa: E402

from explorer.fitting import Fit, fit  # noqa: E402
from explorer.fitting.bootstrap import draw_counts  # noqa: E402
from explorer.fitting.descent import descend  # noqa: E402
from explorer.fitting.hop import jump, spread_at  # noqa: E402
from explorer.laws import law  # noqa: E402
from explorer.runs.table import read_table  # noqa: E402

DELTA = 1e-3
# a, b, e, alpha, beta with A = exp(a), B = exp(b), E = exp(e): the grid of Hoffmann et al. 2022.
GRID = np.array(
    list(
        itertools.product(
            range(0, 30, 5), range(0, 30, 5), (-1, -0.5, 0, 0.5, 1), (0, 0.5, 1, 1.5, 2), (0, 0.5, 1, 1.5, 2)
        )
    ),
    float,
)
TIGHT = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 5000, "maxfun": 50000}
# What is called, its scipy method, its options, whether it is given the gradient.
RECIPES = (
    ("L-BFGS-B, usual tolerances", "L-BFGS-B", {}, True),
    ("L-BFGS-B, tight tolerances", "L-BFGS-B", TIGHT, True),
    ("BFGS, tight tolerance", "BFGS", {"gtol": 1e-10, "maxiter": 5000}, True),
    ("BFGS, gradient by differences", "BFGS", {}, False),
)
BRUTE_RESAMPLES, BRUTE_STARTS = 100, 60


def synthetic(points: int = 240, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    C = 10 ** random.uniform(18.5, 22, points)
    N = np.sqrt(C / 120) * 10 ** random.uniform(-0.7, 0.7, points)
    variables = {"N": N, "D": C / 6 / N}
    clean = law("chinchilla").predict(variables, E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
    return variables, clean * np.exp(0.005 * random.standard_t(4, points))


def usual_objective(
    variables: dict[str, np.ndarray], loss: np.ndarray, counts: np.ndarray | float = 1.0
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Value and gradient of the sum of Huber losses, by a stable log-sum-exp."""
    log_N, log_D, log_loss = np.log(variables["N"]), np.log(variables["D"]), np.log(loss)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        a, b, e, alpha, beta = x
        terms = np.stack([a - alpha * log_N, b - beta * log_D, np.full_like(log_N, e)])
        top = terms.max(axis=0)
        share = np.exp(terms - top)
        total = share.sum(axis=0)
        residual = top + np.log(total) - log_loss
        share /= total
        size = np.abs(residual)
        huber = np.where(size <= DELTA, 0.5 * residual**2, DELTA * (size - 0.5 * DELTA))
        pull = counts * np.clip(residual, -DELTA, DELTA)
        n, d, e = pull * share
        return float(np.sum(counts * huber)), np.array([n.sum(), d.sum(), e.sum(), -n @ log_N, -d @ log_D])

    return value


def seconds(action: Callable[[], object], times: int = 1) -> float:
    begin = time.process_time()
    for _ in range(times):
        action()
    return (time.process_time() - begin) / times


def usual(objective, start: np.ndarray, method: str, options: dict, exact: bool) -> float:  # type: ignore[no-untyped-def]
    function = objective if exact else lambda x: objective(x)[0]
    with np.errstate(all="ignore"):
        return float(minimize(function, start, jac=exact or None, method=method, options=options).fun)


def fits(variables: dict[str, np.ndarray], loss: np.ndarray, starts: np.ndarray) -> Fit:
    result = fit(law("chinchilla"), variables, loss)
    ours = seconds(lambda: fit(law("chinchilla"), variables, loss), 40)
    print(f"{len(loss)} points; here: {1e3 * ours:.1f} ms, objective {result.objective:.9e}")
    print("  " + ", ".join(f"{name} {value:.7g}" for name, value in result.coefficients.items()))
    print(f"  {result.certificate}")
    told = "run" if len(starts) == len(GRID) else f"extrapolated from {len(starts)} drawn at random"
    print(f"\nThe usual recipe: {len(GRID)} starts, {told}")
    objective = usual_objective(variables, loss)
    for name, method, options, exact in RECIPES:
        chosen = starts if exact else starts[: max(10, len(starts) // 4)]
        found: list[float] = []
        run = lambda some=chosen, to=found, how=(method, options, exact): to.extend(  # noqa: E731
            usual(objective, start, *how) for start in some
        )
        whole = seconds(run) * len(GRID) / len(chosen)
        best = min(found)
        there = np.mean(np.array(found) <= result.objective * (1 + 1e-6))
        print(
            f"  {name:30} {whole:7.1f} s, {whole / ours:7,.0f} times ours; best {best / result.objective - 1:+.1e} "
            f"of ours; {there:.0%} of starts reach the optimum"
        )
        assert result.objective <= best * (1 + 1e-9), "a start of the usual recipe led lower"
    return result


def bootstrap(
    result: Fit, variables: dict[str, np.ndarray], loss: np.ndarray, n: int, usual_ones: int = 30
) -> None:
    result.resample(10)
    begin = time.process_time()
    ensemble = result.resample(n, seed=1)
    whole = time.process_time() - begin
    print(
        f"\n{n} resamples: {whole:.2f} s here, {1 + ensemble.looks} starts each, of which the last two still lowered "
        f"{ensemble.lowered:.2%} of them"
    )
    # Brute force on some of them: the law's own grid and jumps, short and long.
    points = len(loss)
    counts = draw_counts(np.arange(points), np.zeros(points, int), n, np.random.default_rng(1))
    random = np.random.default_rng(2)
    chosen = random.choice(n, min(n, BRUTE_RESAMPLES), replace=False)
    problem, best = result._problem, result._minima[0]
    starts = problem.theta(problem.law.starts(problem.variables, problem.loss, {}))  # type: ignore[misc]
    starts = starts[np.argsort(problem.objective(starts))[:BRUTE_STARTS:2]]
    width = np.resize([1.0, 2.0, 4.0], BRUTE_STARTS - len(starts))
    around = jump(problem, np.tile(best, (len(width), 1)), spread_at(problem, best), width, random)
    starts = np.concatenate([starts, around])
    many = np.repeat(counts[chosen], len(starts), axis=0)
    reached = descend(problem, np.tile(starts, (len(chosen), 1)), many, steps=300).value
    excess = ensemble.objective[chosen] / reached.reshape(len(chosen), -1).min(axis=1) - 1
    print(
        f"  beside brute force ({len(starts)} starts each on {len(chosen)} of them): "
        f"{np.mean(excess > 1e-6):.1%} left in a worse minimum by more than 1e-6, {np.mean(excess < -1e-6):.1%} better"
    )
    start = np.array([np.log(result.coefficients[k]) for k in "ABE"])
    start = np.append(start, [result.coefficients["alpha"], result.coefficients["beta"]])
    for name, method, options, exact in RECIPES[:3]:
        some, found = chosen[:usual_ones], []
        begin = time.process_time()
        for k in some:
            found.append(usual(usual_objective(variables, loss, counts[k]), start, method, options, exact))
        each = (time.process_time() - begin) / len(some)
        left = np.mean(np.array(found) > ensemble.objective[some] * (1 + 1e-6))
        print(
            f"  {name:30} from the optimum, once: {each * n:6.1f} s (from {len(some)}), {each * n / whole:5.1f} times "
            f"ours, {left:.0%} left in a worse minimum"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", nargs="?", type=Path, help="a table with N, D and loss; made up if left out")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many rows at its start")
    parser.add_argument("--starts", type=int, default=60, help="starts of the usual recipe that are run")
    parser.add_argument("--all", action="store_true", help="run all its starts")
    parser.add_argument("--resamples", type=int, default=4000)
    given = parser.parse_args()
    if given.table is None:
        variables, loss = synthetic()
    else:
        columns = read_table(given.table, ("N", "D"))
        variables = {name: columns[name][given.skip :] for name in ("N", "D")}
        loss = columns["loss"][given.skip :]
    count = len(GRID) if given.all else min(given.starts, len(GRID))
    chosen = np.random.default_rng(0).choice(len(GRID), count, replace=False)
    result = fits(variables, loss, GRID[chosen])
    bootstrap(result, variables, loss, given.resamples)


if __name__ == "__main__":
    main()
