"""The verdict: one number, one threshold stated beforehand, and whether the seeds are enough to say."""

from __future__ import annotations

import math
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
    from scipy.special import stdtrit

    if freedom < 1 or not math.isfinite(error):
        return (0.0, math.inf)
    reach = float(stdtrit(freedom, 0.5 + coverage / 2)) * error
    spread, centre = float(np.var(residuals)), abs(float(np.mean(residuals)))
    return (
        math.sqrt(spread + max(0.0, centre - reach) ** 2),
        math.sqrt(spread + (centre + reach) ** 2),
    )
