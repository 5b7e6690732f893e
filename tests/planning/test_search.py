"""The two searches, many problems at once, with ends where there is nothing."""

import numpy as np
import pytest

from explorer.planning.search import crossing, lowest


def test_lowest_of_many_parabolas():
    centre = np.array([-3.0, 0.0, 7.7])
    found = lowest(lambda x: (x - centre) ** 2, -40.0 * np.ones(3), 60.0)
    assert found == pytest.approx(centre, abs=1e-6)


def test_lowest_at_an_end_and_beside_nothing():
    assert lowest(lambda x: x, 2.0, 5.0) == pytest.approx(2.0)
    assert lowest(lambda x: -x, 2.0, 5.0) == pytest.approx(5.0)
    for nothing in (np.nan, np.inf):
        assert lowest(lambda x, no=nothing: np.where(x > 1, no, -x), -50.0, 50.0) == pytest.approx(
            1.0, abs=1e-6
        )
        assert lowest(lambda x, no=nothing: np.where(x < 49, no, x), -50.0, 50.0) == pytest.approx(
            49.0, abs=1e-6
        )


def test_crossing_up_and_down_and_not_at_all():
    root = np.array([-3.0, 0.25, 99.0])
    assert crossing(lambda x: np.exp(x) - np.exp(root), -50 * np.ones(3), 50.0)[:2] == pytest.approx(root[:2])
    assert np.isnan(crossing(lambda x: np.exp(x) - np.exp(root), -50 * np.ones(3), 50.0)[2])
    assert crossing(lambda x: 4.5 - x, 0.0, 10.0) == pytest.approx(4.5, abs=1e-9)
    assert np.isnan(crossing(lambda x: np.full_like(x, np.nan), 0.0, 10.0))
