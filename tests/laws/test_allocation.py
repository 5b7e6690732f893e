"""The compute-optimal point in closed form: published values, and what must hold for any constants."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.laws import allocation, chinchilla, published

log_C = st.floats(math.log(1e17), math.log(1e27))
exponents = st.floats(0.05, 1.0)
scales = st.floats(0.0, math.log(1e5))


def split(coefficients):
    rest = {name: coefficients[name] for name in ("A", "B", "alpha", "beta")}
    return coefficients["E"], rest


def printed(value, digits):
    """The value as its table prints it: `digits` significant digits."""
    return pytest.approx(value, rel=0.51 * 10 ** (1 - digits))


@pytest.mark.parametrize(
    ("slug", "C", "N", "D", "loss"),
    [
        ("hoffmann", 5.76e23, 3.218986e10, 2.982306e12, 1.930748),
        ("hoffmann-unrounded", 5.76e23, 4.036094e10, 2.378537e12, 1.918412),
        ("besiroglu", 5.76e23, 7.224870e10, 1.328744e12, 1.974441),
        ("besiroglu", 1e20, 8.534773e8, 1.952796e10, 2.553405),
    ],
)
def test_optimum_of_published_constants(slug, C, N, D, loss):
    E, rest = split(published.CHINCHILLA[slug].coefficients)
    assert allocation.optimal_parameters(C, **rest) == printed(N, 7)
    assert allocation.optimal_tokens(C, **rest) == printed(D, 7)
    assert allocation.optimal_loss(C, E, **rest) == pytest.approx(loss, abs=5.1e-7)


@pytest.mark.parametrize(
    ("slug", "ratio"), [("hoffmann", 92.647367), ("hoffmann-unrounded", 58.93167), ("besiroglu", 18.391245)]
)
def test_tokens_per_parameter(slug, ratio):
    _, rest = split(published.CHINCHILLA[slug].coefficients)
    found = allocation.optimal_tokens(5.76e23, **rest) / allocation.optimal_parameters(5.76e23, **rest)
    assert found == printed(ratio, 7)


@pytest.mark.parametrize(("slug", "G"), [("hoffmann", 1.344711), ("besiroglu", 0.119630)])
def test_scale(slug, G):
    _, rest = split(published.CHINCHILLA[slug].coefficients)
    assert allocation.optimum_scale(**rest) == pytest.approx(G, abs=5.1e-7)


@pytest.mark.parametrize(
    ("slug", "a"),
    [
        ("hoffmann", 0.451613),
        ("hoffmann-unrounded", 0.456526),
        ("besiroglu", 0.512612),
        ("besiroglu-notebook", 0.513905),
        ("muennighoff-c4", 0.5),
    ],
)
def test_exponents(slug, a):
    constants = published.CHINCHILLA[slug].coefficients
    found_a, found_b = allocation.exponents(constants["alpha"], constants["beta"])
    assert found_a == pytest.approx(a, abs=5.1e-7)
    assert found_a + found_b == pytest.approx(1.0, rel=1e-15)


def test_rounded_exponents_move_the_optimum_by_a_quarter():
    rounded, full = (
        allocation.optimal_parameters(5.76e23, **split(published.CHINCHILLA[slug].coefficients)[1])
        for slug in ("hoffmann", "hoffmann-unrounded")
    )
    assert 1.2 < full / rounded < 1.3


@pytest.mark.parametrize(
    ("slug", "C", "N", "loss"),
    [
        ("transformer", 6e18, 1.887691e8, 3.190850),
        ("xlstm", 6e18, 2.098771e8, 3.174821),
        ("transformer", 1e21, 2.324775e9, 2.489531),
        ("xlstm", 1e21, 2.442817e9, 2.461758),
        ("transformer-gamma-1", 6e18, 6.778852e8, None),
        ("xlstm-gamma-1", 6e18, 9.988217e8, None),
    ],
)
def test_optimum_of_the_generalised_law(slug, C, N, loss):
    constants = published.GENERALISED[slug].coefficients
    E, rest = split(constants)
    assert allocation.optimal_parameters(C, **rest) == printed(N, 7)
    if loss is not None:
        assert allocation.optimal_loss(C, E, **rest, gamma=constants["gamma"]) == pytest.approx(
            loss, abs=5.1e-7
        )


@pytest.mark.parametrize(("x", "phi"), [(2, 1.030847), (0.5, 1.030591), (10, 1.361691)])
def test_penalty_of_published_constants(x, phi):
    assert allocation.penalty(x, 0.3478, 0.3658) == pytest.approx(phi, abs=5.1e-7)


@given(log_C, scales, scales, exponents, exponents, st.floats(1.0, 12.0), st.floats(0.1, 1.5))
def test_optimum_meets_budget_first_order_condition_and_loss(log_C, a, b, alpha, beta, c, gamma):
    C, A, B = np.exp([log_C, a, b])
    rest = {"A": A, "B": B, "alpha": alpha, "beta": beta}
    N, D = (f(C, **rest, c=c) for f in (allocation.optimal_parameters, allocation.optimal_tokens))
    product = N * D
    assert product == pytest.approx(C / c, rel=1e-9)
    assert alpha * A * N**-alpha == pytest.approx(beta * B * D**-beta, rel=1e-9)
    best = allocation.optimal_loss(C, 1.7, **rest, gamma=gamma, c=c)
    assert best == pytest.approx(chinchilla.generalised_loss(N, D, 1.7, **rest, gamma=gamma), rel=1e-9)
    for x in (0.5, 0.99, 1.01, 2.0):
        assert chinchilla.generalised_loss(N * x, D / x, 1.7, **rest, gamma=gamma) >= best * (1 - 1e-12)


@given(log_C, scales, scales, exponents, exponents)
def test_loss_along_the_optimum_is_a_power_law(log_C, a, b, alpha, beta):
    C, A, B = np.exp([log_C, a, b])
    G = allocation.optimum_scale(A, B, alpha, beta)
    rate = alpha * beta / (alpha + beta)
    K = (1 + alpha / beta) * A * G**-alpha * 6**rate
    assert allocation.optimal_loss(C, 1.7, A, B, alpha, beta) == pytest.approx(1.7 + K * C**-rate, rel=1e-9)


@given(st.floats(-5.0, 5.0), exponents, exponents)
def test_penalty_is_one_at_the_optimum_and_convex(log_x, alpha, beta):
    assert allocation.penalty(1.0, alpha, beta) == pytest.approx(1.0, rel=1e-15)
    low, mid, high = allocation.penalty(np.exp(log_x + np.array([-0.3, 0.0, 0.3])), alpha, beta)
    assert mid >= 1 - 1e-15
    assert low + high - 2 * mid >= -1e-12 * mid


@given(log_C, scales, scales, exponents, exponents, st.floats(0.1, 10.0))
def test_penalty_is_the_ratio_of_reducible_losses(log_C, a, b, alpha, beta, x):
    C, A, B = np.exp([log_C, a, b])
    rest = {"A": A, "B": B, "alpha": alpha, "beta": beta}
    N, D = allocation.optimal_parameters(C, **rest), allocation.optimal_tokens(C, **rest)
    ratio = chinchilla.loss(x * N, D / x, 0.0, **rest) / chinchilla.loss(N, D, 0.0, **rest)
    assert allocation.penalty(x, alpha, beta) == pytest.approx(ratio, rel=1e-9)


@pytest.mark.parametrize("slug", ["transformer", "xlstm", "transformer-gamma-1", "xlstm-gamma-1"])
@pytest.mark.parametrize(("half_width", "miss"), [(0.5, 0.01), (1.2, 0.06)])
def test_parabola_through_a_valley_finds_the_optimum(slug, half_width, miss):
    constants = published.GENERALISED[slug].coefficients
    _, rest = split(constants)
    best = allocation.optimal_parameters(6e18, **rest)
    x = np.linspace(-half_width, half_width, 9)
    N = best * 10**x
    curve = chinchilla.generalised_loss(N, 6e18 / (6 * N), **constants)
    c2, c1, _ = np.polyfit(x, curve, 2)
    assert abs(10 ** (-c1 / (2 * c2)) - 1) < miss


@pytest.mark.filterwarnings("error")
def test_no_warning_at_the_extremes():
    N = allocation.optimal_parameters([1e17, 1e300], 1e5, 1.0, 0.01, 0.01)
    assert not np.isnan(N).any()
    assert np.isfinite(allocation.optimal_loss([1e17, 1e300], 1.0, 1e5, 1.0, 0.01, 0.01)).all()
    assert np.isinf(allocation.optimum_scale(1e30, 1.0, 0.01, 0.01))
