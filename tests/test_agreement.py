"""Verdicts: sides of a threshold, noise, and the interval of a root mean square."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from explorer.agreement import (
    Agreement,
    in_short,
    judge,
    paired_difference,
    pooled_seed_sd,
    rms_interval,
    seeds_to_decide,
)

FLOATS = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("interval", "below", "above"),
    [
        ((0.01, 0.02), "agrees", "disagrees"),
        ((0.04, 0.05), "disagrees", "agrees"),
        ((0.02, 0.04), "too noisy to say", "too noisy to say"),
        ((math.nan, 0.01), "too noisy to say", "too noisy to say"),
        ((0.0, math.inf), "too noisy to say", "too noisy to say"),
    ],
)
def test_sides(interval, below, above):
    assert judge(0.02, 0.03, interval) == below
    assert judge(0.02, 0.03, interval, "above") == above


def test_an_exact_value_needs_no_interval():
    assert judge(0.02, 0.03, None) == "agrees"
    assert judge(0.03, 0.03, None) == "disagrees"
    assert judge(math.nan, 0.03, None) == "too noisy to say"


@given(st.lists(FLOATS, min_size=1, max_size=20), st.floats(0, 10), st.integers(1, 30))
def test_the_interval_holds_the_value_and_grows_with_the_error(residuals, error, freedom):
    residuals = np.array(residuals)
    rms = math.sqrt(np.mean(residuals**2))
    low, high = rms_interval(residuals, error, freedom)
    slack = 1e-6 * (1 + rms)
    assert 0 <= low <= rms + slack
    assert high >= rms - slack
    assert rms_interval(residuals, 2 * error, freedom)[1] >= high - slack


def test_without_repetition_nothing_can_be_said():
    assert rms_interval(np.array([0.01]), math.nan, 0) == (0.0, math.inf)
    assert math.isnan(pooled_seed_sd([np.array([1.0]), np.array([2.0])]))


def test_pooling_is_the_textbook_formula():
    sd = pooled_seed_sd([np.array([1.0, 3.0]), np.array([10.0, 10.0, 13.0])])
    assert sd == pytest.approx(math.sqrt((2 + 6) / 3))


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_coverage_of_the_interval_by_simulation(correlation):
    """A shift hidden in seed noise is inside the 90 % interval at least nine times in ten, however much the
    widths of one seed rise and fall together."""
    random = np.random.default_rng(0)
    shape, truth, sd, seeds = np.linspace(-0.01, 0.01, 7), 0.02, 0.01, 3
    target = math.sqrt(np.mean((shape + truth) ** 2))
    inside = 0
    for _ in range(2000):
        common = random.normal(0, sd, seeds)
        own = random.normal(0, sd, (4, seeds))
        groups = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own
        error = pooled_seed_sd(list(groups)) / math.sqrt(seeds)
        low, high = rms_interval(shape + truth + groups[0].mean(), error, seeds - 1)
        inside += low <= target <= high
    assert inside / 2000 > 0.88
    assert inside / 2000 < (0.96 if correlation == 0.9 else 0.995)


def test_a_paired_difference_is_the_textbook_one():
    found = paired_difference([1.0, 2.0, 4.0], [2.0, 2.5, 4.0])
    assert found.mean == pytest.approx(-0.5)
    assert found.error == pytest.approx(0.5 / math.sqrt(3))
    assert found.interval[0] == pytest.approx(-0.5 - 2.9199856 * 0.5 / math.sqrt(3))
    assert (found.wins, found.seeds) == (2, 3)


def test_one_seed_leaves_a_difference_open():
    found = paired_difference([1.0], [2.0])
    assert found.interval == (-math.inf, math.inf)
    assert math.isnan(found.error)
    with pytest.raises(ValueError, match="paired"):
        paired_difference([1.0], [1.0, 2.0])


@pytest.mark.parametrize(("seeds", "gap", "spread"), [(3, 0.1, 0.3), (5, 0.02, 0.1), (4, 0.05, 0.05)])
def test_the_seeds_said_to_be_needed_would_decide(seeds, gap, spread):
    """With that many seeds of the same spread the interval clears the threshold; with one fewer it does not."""

    def reach(count):
        return stats.t.ppf(0.95, count - 1) * spread / math.sqrt(count)

    low, high = -gap - reach(seeds), -gap + reach(seeds)
    assert judge(-gap, 0.0, (low, high)) == "too noisy to say"
    needed = seeds_to_decide(-gap, 0.0, (low, high), seeds)
    assert needed is not None
    assert needed > seeds
    assert reach(needed) < gap
    assert needed > 40 or reach(needed - 1) >= gap or needed == seeds + 1
    assert seeds_to_decide(gap, 0.0, (gap - reach(seeds), gap + reach(seeds)), seeds) == needed


def test_no_number_of_seeds_is_said_where_none_is_known():
    assert seeds_to_decide(0.1, 0.1, (0.0, 0.2), 3) is None
    assert seeds_to_decide(0.1, 0.2, None, 3) is None
    assert seeds_to_decide(0.1, 0.2, (0.0, math.inf), 3) is None
    assert seeds_to_decide(0.1, 0.2, (0.0, 0.3), 1) is None


def test_verdicts_in_short():
    def verdicts(*names):
        return [Agreement("n", "c", 1.0, 1.0, None, name, 3, 3) for name in names]

    assert in_short([]) == ""
    assert in_short(verdicts("agrees", "agrees")) == "agrees"
    assert in_short(verdicts("disagrees", "agrees", "agrees")) == "2 agrees, 1 disagrees"
