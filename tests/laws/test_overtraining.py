"""Over-training: the two ways to write the law agree, and the downstream error falls with the loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.laws import allocation, chinchilla, overtraining, published


@pytest.mark.parametrize("corpus", list(published.OVERTRAINING))
@given(st.floats(1e6, 1e12), st.floats(1.0, 1e4))
def test_same_law_in_parameters_and_tokens(corpus, N, M):
    constants = published.OVERTRAINING[corpus].coefficients
    D = M * N
    plain = chinchilla.loss(N, D, **overtraining.chinchilla_coefficients(**constants))
    assert overtraining.loss(6 * N * D, M, **constants) == pytest.approx(plain, rel=1e-12)


def test_scale_carries_six_to_the_eta():
    constants = published.OVERTRAINING["c4"].coefficients
    base = overtraining.chinchilla_coefficients(**constants)
    assert base["A"] * 6**0.121 == pytest.approx(141.0)
    assert base["B"] * 6**0.121 == pytest.approx(190.0)


def test_best_ratio_is_that_of_the_allocation():
    constants = published.OVERTRAINING["c4"].coefficients
    base = overtraining.chinchilla_coefficients(**constants)
    rest = {name: base[name] for name in ("A", "B", "alpha", "beta")}
    best = allocation.optimal_tokens(1e20, **rest) / allocation.optimal_parameters(1e20, **rest)
    assert best == pytest.approx((190 / 141) ** (1 / 0.242))
    M = best * np.array([0.5, 1.0, 2.0])
    assert np.argmin(overtraining.loss(1e20, M, **constants)) == 1


@given(st.floats(1.0, 5.0), st.floats(0.01, 2.0))
def test_downstream_error_grows_with_loss_to_epsilon(L, step):
    low, high = overtraining.downstream_error([L, L + step], 0.75, 2.0, 1.1)
    assert low < high < 0.75
    assert overtraining.downstream_error(100.0, 0.75, 2.0, 1.1) == pytest.approx(0.75)
