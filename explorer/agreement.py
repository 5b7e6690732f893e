"""The verdict: one number, one threshold stated beforehand, and whether the seeds are enough to say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

Verdict = Literal["agrees", "disagrees", "too noisy to say"]


class Agreement(msgspec.Struct, frozen=True):
    """How far a measurement is from its sealed prediction.

    Args:
        name: which comparison of the exhibit.
        claim: the statement, with its threshold, as it was written before the run.
        value: the number; agreement means below `threshold` ("below") or above it ("above").
        interval: where the value lies, given the spread over seeds, with the given coverage; None if exact.
        verdict: agrees, disagrees or too noisy to say.
        seeds: independent repetitions behind the interval.
        points: measured points behind the value.
        scope: where this holds: which points, which regime.
        baselines: the same number for simpler laws or recipes, by name.
        sense: on which side of the threshold agreement lies.
        seeds_needed: of a verdict that is too noisy, about how many seeds would decide it if the value stayed.
    """

    name: str
    claim: str
    value: float
    threshold: float
    interval: tuple[float, float] | None
    verdict: Verdict
    seeds: int
    points: int
    scope: str = ""
    baselines: dict[str, float] = {}
    coverage: float = 0.9
    sense: Literal["below", "above"] = "below"
    seeds_needed: int | None = None


def in_short(agreements: Sequence[Agreement]) -> str:
    """All verdicts of a run in a few words: "agrees", or "3 agrees, 1 disagrees". Empty for none."""
    counts = Counter(one.verdict for one in agreements)
    if len(counts) == 1:
        return next(iter(counts))
    order: tuple[Verdict, ...] = ("agrees", "disagrees", "too noisy to say")
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in order if counts[verdict])


class Paired(msgspec.Struct, frozen=True):
    """The difference a - b of two conditions that share their seeds.

    Args:
        mean: of the differences.
        error: standard error of the mean; nan for one seed.
        interval: Student's t interval of the mean; unbounded for one seed.
        wins: seeds for which a is the smaller.
        seeds: number of differences.
    """

    mean: float
    error: float
    interval: tuple[float, float]
    wins: int
    seeds: int


def paired_difference(a: Sequence[float], b: Sequence[float], coverage: float = 0.9) -> Paired:
    """What a - b is, seed by seed; a shared seed's luck cancels.

    Args:
        a, b: one number a seed, in the same order of seeds.
        coverage: of the interval.

    Raises:
        ValueError: there are not as many of one as of the other, or none.
    """
    if len(a) != len(b) or not len(a):
        raise ValueError(f"{len(a)} and {len(b)} numbers cannot be paired seed by seed.")
    difference = np.asarray(a, float) - np.asarray(b, float)
    mean, count = float(np.mean(difference)), len(difference)
    error = float(np.std(difference, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    reach = _quantile(count - 1, coverage) * error if count > 1 else math.inf
    return Paired(mean, error, (mean - reach, mean + reach), int(np.sum(difference < 0)), count)


def seeds_to_decide(
    value: float,
    threshold: float,
    interval: tuple[float, float] | None,
    seeds: int,
    coverage: float = 0.9,
    most: int = 10_000,
) -> int | None:
    """About how many seeds would move the interval off the threshold, if the value and the spread stayed.

    Returns:
        a number above `seeds`; None where the spread is unknown or more than `most` would be needed.
    """
    if interval is None or seeds < 2:
        return None
    gap = abs(value - threshold)
    reach = interval[1] - value if value < threshold else value - interval[0]
    if not (gap > 0 and math.isfinite(reach)):
        return None
    spread = reach / _quantile(seeds - 1, coverage) * math.sqrt(seeds)
    count = seeds + 1
    while count <= most:
        if _quantile(count - 1, coverage) * spread / math.sqrt(count) < gap:
            return count
        count += max(1, count // 20)
    return None


def _quantile(freedom: int, coverage: float) -> float:
    """Student's t that holds `coverage` between minus and plus itself."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + coverage / 2))


def judge(
    value: float,
    threshold: float,
    interval: tuple[float, float] | None,
    sense: Literal["below", "above"] = "below",
) -> Verdict:
    """Agrees if all of the interval lies on the claimed side, disagrees if all lies on the other.

    A value or bound that is not a number says nothing: too noisy to say.
    """
    low, high = interval if interval is not None else (value, value)
    if not all(map(math.isfinite, (value, threshold))) or math.isnan(low) or math.isnan(high):
        return "too noisy to say"
    if sense == "above":
        low, high, threshold = -high, -low, -threshold
    if high < threshold:
        return "agrees"
    if low >= threshold:
        return "disagrees"
    return "too noisy to say"


def pooled_seed_sd(groups: Sequence[np.ndarray]) -> float:
    """Standard deviation between seeds, pooled over conditions.

    Args:
        groups: one array a condition, holding one number a seed.

    Returns:
        the pooled standard deviation; nan without repetition. Its degrees of freedom are sum(len - 1) only if the
        groups are independent: groups that share their seeds' data order are not.
    """
    squares = sum(float(np.sum((g - np.mean(g)) ** 2)) for g in groups if len(g) > 1)
    freedom = sum(len(g) - 1 for g in groups if len(g) > 1)
    return math.sqrt(squares / freedom) if freedom else math.nan


def rms_interval(
    residuals: np.ndarray, error: float, freedom: int, coverage: float = 0.9
) -> tuple[float, float] | None:
    """Where the root mean square of `residuals` lies if all of them share one unknown shift.

    The points of one trained model rise and fall together with its seed, so the noise is a shift of the whole
    curve: rms(r + d) = sqrt(var(r) + (mean(r) + d)^2) for |d| up to Student's t times the standard error.

    Args:
        residuals: measured minus predicted, one a scored point, shape (n,).
        error: standard error of the shift.
        freedom: degrees of freedom behind `error`.
        coverage: of the interval.

    Returns:
        (low, high), or (0, inf) where nothing was repeated and the noise is unknown.
    """
    if freedom < 1 or not math.isfinite(error):
        return (0.0, math.inf)
    reach = _quantile(freedom, coverage) * error
    spread, centre = float(np.var(residuals)), abs(float(np.mean(residuals)))
    return (
        math.sqrt(spread + max(0.0, centre - reach) ** 2),
        math.sqrt(spread + (centre + reach) ** 2),
    )
