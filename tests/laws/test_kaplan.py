"""Kaplan's power laws: published values and limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.laws import kaplan


def test_loss_of_published_constants():
    assert kaplan.parameters_loss(1e9) == pytest.approx(2.3756403, abs=5.1e-8)
    assert kaplan.tokens_loss(1e10) == pytest.approx(2.2624418, abs=5.1e-8)
    assert kaplan.loss(1e9, 1e10) == pytest.approx(2.4196518, abs=5.1e-8)


def test_compute_is_in_flop_and_its_constant_in_pf_days():
    assert kaplan.PF_DAY == 1e15 * 24 * 3600
    assert kaplan.compute_loss(kaplan.PF_DAY) == pytest.approx(2.6580802, abs=5.1e-8)
    assert kaplan.optimal_parameters(kaplan.PF_DAY) == pytest.approx(1.3e9)
    assert kaplan.optimal_parameters(10 * kaplan.PF_DAY) == pytest.approx(1.3e9 * 10**0.73)


@given(st.floats(1e5, 1e12), st.floats(1e6, 1e13))
def test_joint_law_is_limited_by_each_resource(N, D):
    both = kaplan.loss(N, D)
    assert both >= kaplan.parameters_loss(N, 6.4e13, 0.076)
    assert both >= kaplan.tokens_loss(D, 1.8e13, 0.103)
    assert kaplan.loss(N, 1e60) == pytest.approx(kaplan.parameters_loss(N, 6.4e13, 0.076), rel=1e-9)


def test_steps_and_critical_batch():
    assert kaplan.steps_loss(1e9, 1e30) == pytest.approx(kaplan.parameters_loss(1e9, 6.5e13, 0.077))
    assert kaplan.critical_batch(1.0) == pytest.approx(2.1e8)
    assert kaplan.critical_batch(2.0) == pytest.approx(2.1e8 / 2 ** (1 / 0.21))
