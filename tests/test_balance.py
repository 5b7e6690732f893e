"""The rules by which the other numbers follow: sums and means are kept, bounds and locks respected."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.balance import move_entry, move_weight, nearest_weights
from explorer.errors import BadInput

CLOSE = 1e-12


@st.composite
def mixtures(draw):
    raw = draw(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda w: sum(w) > 1e-3))
    weights = [weight / sum(raw) for weight in raw]
    index = draw(st.integers(0, len(weights) - 1))
    locked = draw(st.frozensets(st.integers(0, len(weights) - 1)))
    return weights, index, locked


@st.composite
def profiles(draw):
    low = draw(st.floats(-10, 10))
    high = low + draw(st.floats(1e-3, 10))
    values = [
        low + (high - low) * share for share in draw(st.lists(st.floats(0, 1), min_size=1, max_size=64))
    ]
    return [min(value, high) for value in values], draw(st.integers(0, len(values) - 1)), low, high


@given(mixtures(), st.floats(-1, 2))
def test_weights_sum_to_one_and_locked_ones_stay(mixture, value):
    weights, index, locked = mixture
    moved = move_weight(weights, index, value, locked)
    assert abs(math.fsum(moved) - 1) < CLOSE
    assert min(moved) >= 0
    assert all(moved[i] == weights[i] for i in locked)


@given(mixtures(), st.floats(0, 1))
def test_the_value_is_reached_or_all_that_is_free_is_taken(mixture, value):
    weights, index, locked = mixture
    moved = move_weight(weights, index, value, locked)
    if index in locked or len(locked | {index}) == len(weights):
        assert moved == tuple(weights)
    else:
        free = 1 - math.fsum(weights[i] for i in locked)
        assert abs(moved[index] - min(value, free)) < CLOSE


@given(mixtures(), st.floats(0, 1))
def test_the_others_keep_their_proportions(mixture, value):
    weights, index, locked = mixture
    moved = move_weight(weights, index, value, locked)
    others = [i for i in range(len(weights)) if i != index and i not in locked]
    for i in others:
        for j in others:
            assert abs(moved[i] * weights[j] - moved[j] * weights[i]) < CLOSE


@given(mixtures(), st.floats(-1, 2))
def test_nobody_falls_below_the_floor(mixture, value):
    weights, index, _ = mixture
    floor = 0.5 / len(weights)
    moved = move_weight(weights, index, value, floor=floor)
    assert min(moved) >= floor - CLOSE and abs(math.fsum(moved) - 1) < CLOSE


def test_cases_known_by_hand():
    assert move_weight((0.5, 0.3, 0.2), 0, 0.75) == pytest.approx((0.75, 0.15, 0.1))
    assert move_weight((1, 0, 0), 0, 0.4) == pytest.approx((0.4, 0.3, 0.3))
    assert move_weight((0.5, 0.3, 0.2), 0, 0.9, locked={1}) == pytest.approx((0.7, 0.3, 0))
    assert move_weight((0.5, 0.3, 0.2), 0, 0.1, locked={1, 2}) == (0.5, 0.3, 0.2)
    assert move_weight((0.5, 0.5), 1, 1) == (0, 1)
    assert move_entry((0.1, 0.1, 0.1), 0, 0.2, 0, 1, hold_mean=True) == pytest.approx((0.2, 0.05, 0.05))
    assert move_entry((0.1, 0.1, 0.1), 0, 0.9, 0, 1, hold_mean=True) == pytest.approx((0.3, 0, 0))
    assert move_entry((0.1, 0.1, 0.1), 0, 9, 0, 1, hold_mean=False) == (1, 0.1, 0.1)
    assert move_entry((0.4,), 0, 0.9, 0, 1, hold_mean=True) == (0.4,)


@given(profiles(), st.floats(-30, 30))
def test_without_the_mean_only_one_entry_moves(profile, value):
    values, index, low, high = profile
    moved = move_entry(values, index, value, low, high, hold_mean=False)
    assert moved[index] == min(max(value, low), high)
    assert [*moved[:index], *moved[index + 1 :]] == [*values[:index], *values[index + 1 :]]


@given(profiles(), st.floats(-30, 30))
def test_a_held_mean_stays_and_all_are_within_bounds(profile, value):
    values, index, low, high = profile
    moved = move_entry(values, index, value, low, high, hold_mean=True)
    scale = max(abs(low), abs(high)) * len(values)
    assert abs(math.fsum(moved) - math.fsum(values)) < CLOSE * scale
    assert min(moved) >= low and max(moved) <= high


@given(profiles(), st.floats(0, 1))
def test_with_room_the_value_is_reached(profile, share):
    values, index, low, high = profile
    value = low + (high - low) * share
    moved = move_entry(values, index, value, low, high, hold_mean=True)
    wanted = min(max(value, low), high) - values[index]
    room = math.fsum(
        (entry - low if wanted > 0 else high - entry) for i, entry in enumerate(values) if i != index
    )
    reach = math.copysign(min(abs(wanted), room), wanted)
    assert abs(moved[index] - values[index] - reach) < 1e-11 * len(values)


@given(mixtures(), st.data())
def test_the_nearest_mixture(mixture, data):
    """It is a mixture, keeps the locked ones, and no small exchange between two entries brings it nearer."""
    weights, _, locked = mixture
    target = data.draw(st.lists(st.floats(-2, 2), min_size=len(weights), max_size=len(weights)))
    near = nearest_weights(target, weights, locked)
    assert abs(math.fsum(near) - 1) < CLOSE and min(near) >= 0
    assert all(near[i] == weights[i] for i in locked)
    moving = [i for i in range(len(weights)) if i not in locked]
    for i in moving:
        for j in moving:
            if near[i] > 1e-9:  # may give to j: that must not help
                assert (near[i] - target[i]) - (near[j] - target[j]) < 1e-9


def test_a_mixture_is_its_own_nearest():
    assert nearest_weights((0.2, 0.3, 0.5), (1, 0, 0)) == pytest.approx((0.2, 0.3, 0.5))


def test_refused_in_one_sentence():
    with pytest.raises(BadInput, match="no entry 4 among 3"):
        move_weight((0.5, 0.3, 0.2), 3, 0.1)
    with pytest.raises(BadInput, match="nan is not a number"):
        move_entry((0.5, 0.3), 0, math.nan, 0, 1, hold_mean=True)
    with pytest.raises(BadInput, match="2 targets were given for 3 weights"):
        nearest_weights((0.5, 0.5), (0.5, 0.3, 0.2))
