"""Dropout whose luck is shared by all profiles of a seed."""

import pytest
import torch

from explorer.errors import BadInput
from explorer.training.dropout import SharedDropout

RATES = [[0.1, 0.1], [0.2, 0.0], [0.0, 0.0]]


def dropped(rates=RATES, seeds=(0, 1), layer=0):
    drop = SharedDropout(rates, seeds, (400, 30))
    drop.draw()
    return drop(torch.ones(len(rates) * len(seeds), 400, 30), layer).view(len(rates), len(seeds), 400, 30)


def test_rates_and_scale_are_those_of_the_profile():
    x = dropped()
    for profile, rate in enumerate([0.1, 0.2, 0.0]):
        assert (x[profile] == 0).float().mean().item() == pytest.approx(rate, abs=0.01)
        kept = x[profile][x[profile] > 0]
        assert kept == pytest.approx(1 / (1 - rate))


def test_a_higher_rate_drops_what_a_lower_one_drops_and_more():
    low, high, _ = dropped()
    assert torch.all(high[low == 0] == 0)


def test_equal_rates_drop_the_same_units():
    x = dropped([[0.3], [0.3]])
    assert torch.equal(x[0], x[1])


def test_seeds_have_luck_of_their_own_that_does_not_hang_on_the_others():
    both, alone = dropped(seeds=(4, 5)), dropped(seeds=(5,))
    assert not torch.equal(both[0, 0], both[0, 1])
    assert torch.equal(both[:, 1], alone[:, 0])


def test_a_layer_without_dropout_is_left_alone():
    drop = SharedDropout([[0.0, 0.1]], [0], (5, 3))
    drop.draw()
    x = torch.ones(1, 5, 3)
    assert drop(x, 0) is x
    first = drop(x, 1)
    drop.draw()
    assert drop(torch.ones(1, 2, 3), 1).shape == (1, 2, 3)
    assert first.shape == (1, 5, 3)


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_rates_outside_zero_to_one_are_refused(rate):
    with pytest.raises(BadInput, match="dropout rate"):
        SharedDropout([[rate]], [0], (5, 3))
