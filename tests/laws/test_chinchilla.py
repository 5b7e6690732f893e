"""The Chinchilla law and its generalisation: published values, closed forms, limits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.laws import chinchilla, published

logs = st.floats(math.log(1e6), math.log(1e13))
exponents = st.floats(0.05, 1.0)
scales = st.floats(0.0, math.log(1e5))
E = st.floats(0.0, 3.0)


def base(slug):
    return published.CHINCHILLA[slug].coefficients


@pytest.mark.parametrize(
    ("slug", "N", "D", "expected"),
    [
        ("hoffmann", 70e9, 1.4e12, 1.9366455),
        ("besiroglu", 70e9, 1.4e12, 1.9738819),
        ("hoffmann", 280e9, 300e9, 1.9932585),
        ("besiroglu", 280e9, 300e9, 1.9996077),
    ],
)
def test_loss_of_published_constants(slug, N, D, expected):
    assert chinchilla.loss(N, D, **base(slug)) == pytest.approx(expected, abs=5e-8)


@pytest.mark.parametrize(
    ("slug", "small", "large"),
    [
        ("transformer", 2.736609, 2.298826),
        ("xlstm", 2.708887, 2.272941),
        ("transformer-gamma-1", 2.721685, None),
        ("xlstm-gamma-1", 2.674880, None),
    ],
)
def test_generalised_loss_of_published_constants(slug, small, large):
    coefficients = published.GENERALISED[slug].coefficients
    assert chinchilla.generalised_loss(1e9, 2.2e10, **coefficients) == pytest.approx(small, abs=5e-7)
    if large is not None:
        assert chinchilla.generalised_loss(7e9, 1.5e11, **coefficients) == pytest.approx(large, abs=5e-7)


@given(logs, logs, E, scales, scales, exponents, exponents, st.floats(0.1, 1.5))
def test_log_form_equals_direct_form(n, d, E, a, b, alpha, beta, gamma):
    N, D, A, B = np.exp([n, d, a, b])
    direct = E + (A * N**-alpha + B * D**-beta) ** gamma
    assert chinchilla.generalised_loss(N, D, E, A, B, alpha, beta, gamma) == pytest.approx(direct, rel=1e-12)
    assert chinchilla.log_loss(N, D, E, A, B, alpha, beta, gamma) == pytest.approx(
        math.log(direct), rel=1e-12, abs=1e-12
    )
    plain = E + A / N**alpha + B / D**beta
    assert chinchilla.loss(N, D, E, A, B, alpha, beta) == pytest.approx(plain, rel=1e-12)
    assert chinchilla.generalised_loss(N, D, E, A, B, alpha, beta) == pytest.approx(plain, rel=1e-12)


@given(logs, logs, E, scales, scales, exponents, exponents, st.floats(0.1, 1.5))
def test_loss_falls_with_parameters_and_tokens(n, d, E, a, b, alpha, beta, gamma):
    rest = {"E": E, "A": math.exp(a), "B": math.exp(b), "alpha": alpha, "beta": beta, "gamma": gamma}
    here = chinchilla.generalised_loss(math.exp(n), math.exp(d), **rest)
    assert chinchilla.generalised_loss(2 * math.exp(n), math.exp(d), **rest) <= here
    assert chinchilla.generalised_loss(math.exp(n), 2 * math.exp(d), **rest) <= here
    assert here >= E


def test_limit_is_irreducible_loss():
    assert chinchilla.loss(1e300, 1e300, **base("besiroglu")) == pytest.approx(1.8172, rel=1e-12)


@given(logs, logs, scales, scales, exponents, exponents, st.floats(0.1, 10.0))
def test_counting_parameters_otherwise_changes_only_A(n, d, a, b, alpha, beta, factor):
    N, D, A, B = np.exp([n, d, a, b])
    plain = chinchilla.loss(N, D, 1.7, A, B, alpha, beta)
    scaled = chinchilla.loss(factor * N, D, 1.7, A * factor**alpha, B, alpha, beta)
    assert scaled == pytest.approx(plain, rel=1e-12)


@given(logs, logs, E, scales, scales, exponents, exponents, st.floats(0.2, 1.5))
def test_iso_loss_tokens_inverts_the_law(n, d, E, a, b, alpha, beta, gamma):
    N, D, A, B = np.exp([n, d, a, b])
    target = chinchilla.generalised_loss(N, D, E, A, B, alpha, beta, gamma)
    found = chinchilla.iso_loss_tokens(target, N, E, A, B, alpha, beta, gamma)
    # Where the tokens' term is lost in the rounding of the loss, so is D.
    if B * D**-beta > 1e-6 * target ** (1 / gamma) and B * D**-beta > 1e-6 * A * N**-alpha:
        again = chinchilla.generalised_loss(N, found, E, A, B, alpha, beta, gamma)
        assert again == pytest.approx(target, rel=1e-9)


@pytest.mark.filterwarnings("error")
def test_iso_loss_tokens_is_nan_where_unreachable():
    floor = 1.8172 + 482.01 / 1e9**0.3478
    tokens = chinchilla.iso_loss_tokens([floor + 0.1, floor, floor - 0.1, 1.0], 1e9, **base("besiroglu"))
    assert np.isfinite(tokens[0])
    assert np.isnan(tokens[2:]).all()
    assert not tokens[1] < 1e20


@pytest.mark.filterwarnings("error")
def test_stable_at_the_extremes():
    N = np.array([1.0, 1e30])
    for alpha in (0.01, 1.0):
        value = chinchilla.loss(N, 1e30, 0.0, 1e5, 1e5, alpha, alpha)
        logarithm = chinchilla.log_loss(N, 1e30, 0.0, 1e5, 1e5, alpha, alpha)
        assert np.isfinite(value).all()
        np.testing.assert_allclose(logarithm, np.log(value), rtol=1e-12)
    assert np.isfinite(chinchilla.log_loss(1e300, 1e300, 0.0, 1.0, 1.0, 3.0, 3.0))
    assert chinchilla.loss(10**30, 10**30, 1.0, 1.0, 1.0, 0.5, 0.5) == pytest.approx(1.0)


def test_arrays_broadcast():
    N, D = np.geomspace(1e6, 1e9, 3)[:, None], np.geomspace(1e8, 1e11, 4)
    assert chinchilla.loss(N, D, **base("besiroglu")).shape == (3, 4)


@settings(max_examples=25)
@given(logs, logs, st.floats(0.1, 3.0), scales, scales, exponents, exponents, st.floats(0.2, 1.5))
def test_generalised_jacobian_with_gamma_one_is_that_of_the_plain_law(n, d, E, a, b, alpha, beta, gamma):
    N, D, A, B = np.exp([n, d, a, b])
    rest = {"N": N, "D": D, "E": E, "A": A, "B": B, "alpha": alpha, "beta": beta}
    plain = chinchilla.log_jacobian(**rest)
    np.testing.assert_allclose(
        chinchilla.generalised_log_jacobian(**rest, gamma=1.0)[:5], plain, rtol=1e-10, atol=1e-12
    )
