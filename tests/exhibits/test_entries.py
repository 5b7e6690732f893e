"""Profiles and mixtures as sliders: what they take, what they refuse, and how they travel."""

import json

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.exhibits import Count, Exhibit, Mixture, Paper, Profile


class Layers(Exhibit):
    """Does the order of layers matter?"""

    slug = "layers"
    paper = Paper("title", "authors", "venue")
    depth = Count(3, bounds=(1, 6), label="layers")
    rates = Profile((0.1, 0.1, 0.1), bounds=(0, 0.6), label="rate by layer", lengths=(1, 6))
    weights = Mixture((0.5, 0.3, 0.2), label="mixture")

    def settle(self, changed):
        if "depth" in changed and len(self.rates) != self.depth:
            return {"rates": (0.1,) * self.depth}
        return {"depth": len(self.rates)}


def test_a_profile_is_set_by_numbers_or_text_and_others_follow():
    layers = Layers(rates="0.2 0.1, 0.3 0")
    assert layers.rates == (0.2, 0.1, 0.3, 0.0)
    assert layers.depth == 4
    layers.move(depth=2)
    assert layers.rates == (0.1, 0.1)
    layers.restore({"rates": np.array([0.5])})
    assert layers.rates == (0.5,)


def test_values_are_json_and_come_back():
    layers = Layers(rates=[0.2, 0.4], weights="0.25, 0.75")
    values = json.loads(json.dumps(layers.values()))
    assert values == {"depth": 2, "rates": [0.2, 0.4], "weights": [0.25, 0.75]}
    assert Layers(**values).values() == values
    assert Layers().changed_values() == {}
    assert set(layers.changed_values()) == {"depth", "rates", "weights"}


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("rates", [0.2, 0.7], "Entry 2 of rates is 0.7; it has to be 0 to 0.6."),
        ("rates", [0.2, float("nan")], "rates holds nan, which is not a number."),
        ("rates", "0.2, much", "rates: 'much' is not a number."),
        ("rates", [0.1] * 7, "rates has 7 entries; it takes 1 to 6."),
        ("rates", 0.3, "rates = 0.3 is not a list of numbers."),
        ("rates", [True], "rates holds True, which is not a number."),
        ("weights", [0.5, 0.6], "sum"),
        ("weights", [1.5, -0.5], "-0.5"),
        ("weights", [1.0], "weights has 1 entries; it takes 2 to 8."),
    ],
)
def test_what_cannot_be_used_is_told_and_changes_nothing(name, value, says):
    layers = Layers()
    before = layers.values()
    with pytest.raises(BadInput, match=None) as told:
        layers.restore({name: value})
    assert says in str(told.value)
    assert layers.values() == before
    with pytest.raises(ValueError):
        setattr(layers, name, value)
    assert layers.values() == before


def test_entries_have_names():
    assert Layers().entry_names("rates") == ("1", "2", "3")
    assert Layers().entry_presets("rates") == {}
