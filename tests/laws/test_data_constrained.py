"""Repeated data: the authors' own printed values, and the return to the Chinchilla law."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.laws import chinchilla, data_constrained, published

C4 = published.DATA_CONSTRAINED["muennighoff-c4"].coefficients
BASE = {name: C4[name] for name in ("E", "A", "B", "alpha", "beta")}
sizes = st.floats(math.log(1e6), math.log(1e13)).map(math.exp)


@pytest.mark.parametrize(("N", "D", "loss"), [(6.34e9, 242e9, 2.2256440890), (8.67e9, 178e9, 2.2269634075)])
def test_loss_printed_by_the_authors(N, D, loss):
    assert data_constrained.loss(N, D, 25e9, **C4) == pytest.approx(loss, abs=5e-9)


def test_worth_of_epochs():
    worth = data_constrained.effective_tokens(np.array([2, 4, 16, 40]) * 1e9, 1e9, C4["R_D"]) / 1e9
    np.testing.assert_allclose(worth, [1.968199, 3.725673, 10.582457, 15.167465], atol=5.1e-7)


@given(sizes, sizes, st.floats(0.0, 1.0), st.floats(1.0, 1e4))
def test_fresh_data_and_a_matched_model_give_the_chinchilla_law(U, D, share, more):
    unique = min(U, D)
    matched = data_constrained.matched_parameters(unique, **{k: v for k, v in BASE.items() if k != "E"})
    N = max(matched * share, 1.0)
    assert data_constrained.loss(N, unique, unique * more, **C4) == pytest.approx(
        chinchilla.loss(N, unique, **BASE), rel=1e-12
    )


@given(sizes, sizes, st.floats(1.0, 1e4))
def test_repeats_are_worth_something_but_less_than_fresh_data(N, U, epochs):
    repeated = data_constrained.loss(N, U * epochs, U, **C4)
    assert repeated <= data_constrained.loss(N, U, U, **C4) * (1 + 1e-12)
    assert repeated >= data_constrained.loss(N, U * epochs, U * epochs, **C4) * (1 - 1e-12)
    bound = (1 + C4["R_D"]) * U
    assert data_constrained.effective_tokens(U * epochs, U, C4["R_D"]) <= bound * (1 + 1e-12)


@pytest.mark.filterwarnings("error")
def test_stable_at_the_extremes():
    assert np.isfinite(data_constrained.loss([1.0, 1e30], 1e30, 1e6, **C4)).all()
    small = {**C4, "alpha": 0.01, "beta": 1.0}
    assert np.isfinite(data_constrained.loss([1.0, 1e30], 1e30, 1e6, **small)).all()
