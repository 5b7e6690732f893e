"""A curve's twin in the browser is the same formula: compared with the curve for many places of the sliders."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.exhibits import Count, Curve, Quantity, Twin, discover

FIGURES = [
    (entry.cls, name)
    for entry in discover()
    if entry.cls
    for name in entry.cls.figures()
    if any(isinstance(one, Curve) and one.twin for one in entry.cls().curves(name))
]


def elsewhere(cls, seed):
    """The exhibit with its number sliders at random places."""
    dice, exhibit = np.random.default_rng(seed), cls()
    for name, slider in cls.sliders().items():
        if isinstance(slider, Quantity) and not isinstance(slider, Count) and slider.group != "training":
            low, high = slider.get_soft_bounds()
            share = dice.uniform(0.05, 0.95)
            if slider.scale == "log":
                low = slider.zero_below or low
                exhibit.move(**{name: float(low * (high / low) ** share)})
            else:
                exhibit.move(**{name: float(low + share * (high - low))})
    return exhibit


def test_there_are_some():
    assert {"ladder", "mars-gamma"} <= {cls.slug for cls, _ in FIGURES}


@pytest.mark.parametrize(("cls", "name"), FIGURES)
@pytest.mark.parametrize("seed", range(5))
def test_twins_are_their_curves(cls, name, seed):
    start = {one.key: one for one in cls().curves(name)}
    exhibit = elsewhere(cls, seed)
    for curve in exhibit.curves(name):
        assert curve.twin is not None, "the browser moves a figure as a whole or not at all"
        x, y = curve.twin(start[curve.key].x, exhibit.values())
        np.testing.assert_allclose(x, curve.x, rtol=1e-12, equal_nan=True)
        np.testing.assert_allclose(y, curve.y, rtol=1e-12, equal_nan=True)


def test_a_twin_names_its_sliders_and_nothing_else():
    twin = Twin("E + A/(N*k)^alpha + B/x^beta", constants={"k": 0.1})
    assert twin.sliders == {"E", "A", "N", "alpha", "B", "beta"}
    assert Twin("E", x="D").sliders == {"E", "D"}
    with pytest.raises(BadInput):
        Twin("E + ").sliders  # noqa: B018
