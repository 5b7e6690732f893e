"""Random networks: exact starts, the masks' effect, and what cannot be asked."""

import pytest
import torch

from explorer.errors import BadInput
from explorer.training.random_network import correlations_by_layer

SETTINGS = {
    "width": 128,
    "depth": 5,
    "p": 0.1,
    "sw2": 2.0,
    "sb2": 0.1,
    "c0": 0.7,
    "q0": 1.0,
    "pairs": 3,
    "seed": 0,
}


def layers(activation="tanh", **changed):
    return list(correlations_by_layer(activation, **SETTINGS | changed))


def test_it_starts_at_the_correlation_asked_for():
    found = layers()
    assert len(found) == 6
    assert found[0].shape == (3,)
    assert found[0].tolist() == pytest.approx([0.7] * 3, abs=1e-6)


@pytest.mark.parametrize("activation", ["tanh", "erf", "ReLU", "GELU"])
def test_equal_inputs_part_only_if_there_is_dropout(activation):
    assert torch.stack(layers(activation, p=0, c0=1)).min() > 1 - 1e-5
    assert layers(activation, c0=1)[1].max() < 0.99


def test_a_seed_fixes_the_network():
    assert torch.equal(layers()[-1], layers()[-1])
    assert not torch.equal(layers()[-1], layers(seed=1)[-1])


def test_what_cannot_be_is_told():
    with pytest.raises(BadInput, match="no activation 'cosine'"):
        layers("cosine")
    with pytest.raises(BadInput, match="the width is 1"):
        layers(width=1)
