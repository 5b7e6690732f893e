"""Dropout as an external field: values computed independently, invariants, and the traps of the quadrature."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.exhibits.dropout_universality import law
from explorer.exhibits.dropout_universality.activations import ERF, GELU, RELU, TANH
from explorer.exhibits.dropout_universality.schedules import (
    EQUAL_BUDGET,
    MOST,
    RANKED,
    SCHEDULES,
    damage,
    effective_depth_scale,
    front_ratio,
    profile,
    reach,
    relative_reach,
    rescaled,
)

SB2 = 0.1


def critical(reading, p, sb2=SB2):
    return law.correlation_map(reading, p, law.critical_weights(reading, p, sb2), sb2)


# -- values


def test_constants():
    assert pytest.approx(0.3001054387190354, rel=1e-15) == law.K
    assert pytest.approx(0.6723682072841813, rel=1e-15) == law.KINKED_RATE


@pytest.mark.parametrize(
    ("reading", "sb2", "sw2", "q", "g"),
    [
        ("tanh", 0.1, 1.98607264, 0.80579918, 0.49880549),
        ("erf", 0.1, 1.55211786, 0.72635923, 0.54037255),
        ("tanh", 0.05, 1.76095464, 0.57004788, None),
        ("erf", 0.05, 1.37583901, 0.51717684, None),
    ],
)
def test_critical_networks_without_dropout(reading, sb2, sw2, q, g):
    found = critical(reading, 0, sb2)
    assert found.sw2 == pytest.approx(sw2, abs=5e-9)
    assert found.q == pytest.approx(q, abs=5e-9)
    assert g is None or found.g == pytest.approx(g, abs=5e-9)
    assert found.fixed_gap == 0
    assert math.isinf(found.depth_scale)


@pytest.mark.parametrize(
    ("reading", "p", "sw2", "q", "g", "h", "c", "xi"),
    [
        ("tanh", 0.01, 2.01291417, 0.83587863, 0.52150277, 0.00880365, 0.79903778, 11.913572),
        ("erf", 0.01, 1.57079957, 0.75000413, 0.56250388, 0.00866667, 0.81009376, 11.313973),
        ("tanh", 0.05, 2.13175258, 0.97406669, 0.62658356, 0.04486688, 0.53660783, 5.684487),
        ("tanh", 0.2, 2.76753399, 1.85128953, 1.30968783, 0.18919672, 0.16691180, 2.590003),
        ("tanh", 0.5, 5.44897342, 8.08025630, 6.27179867, 0.49381208, 0.02030814, 1.063869),
        ("tanh", 0.1, 2.30830563, 1.19441474, 0.79617789, 0.09162770, 0.35683947, 4.007645),
    ],
)
def test_critical_networks_with_dropout(reading, p, sw2, q, g, h, c, xi):
    found = critical(reading, p)
    values = (found.sw2, found.q, found.g, found.h, 1 - found.fixed_gap)
    assert values == pytest.approx((sw2, q, g, h, c), abs=6e-9)
    assert found.depth_scale == pytest.approx(xi, abs=6e-7)
    assert found.chi == pytest.approx(1, abs=1e-12)


def test_erf_at_a_tenth():
    found = critical("erf", 0.1)
    assert 1 - found.fixed_gap == pytest.approx(0.38953798, abs=5e-9)
    assert found.depth_scale == pytest.approx(3.776378, abs=5e-7)


@pytest.mark.parametrize(
    ("p", "h", "c", "xi"), [(0.01, 0.01010101, 0.89611925, 6.318599), (0.1, 1 / 9, 0.49368199, 2.445303)]
)
def test_formal_relu(p, h, c, xi):
    found = critical("ReLU-formal", p)
    assert (found.h, 1 - found.fixed_gap) == pytest.approx((h, c), abs=5e-9)
    assert found.depth_scale == pytest.approx(xi, abs=5e-7)


@pytest.mark.parametrize(
    ("p", "c", "xi"),
    [
        (0.01, 0.9029325991, 6.1533273274),
        (0.05, 0.7448170869, 3.1649782437),
        (0.1, 0.6271458849, 2.2740343219),
        (0.5, 0.2172336282, 0.7963135916),
    ],
)
def test_he_relu(p, c, xi):
    for sw2 in (2.0, 2 * (1 - p)):  # a ReLU's correlations do not know the scale of its weights
        found = law.correlation_map("ReLU-He", p, sw2, 0)
        assert 1 - found.fixed_gap == pytest.approx(c, abs=5e-11)
        assert found.depth_scale == pytest.approx(xi, abs=1e-10)
        assert (found.h, found.t) == pytest.approx((p, -p))


@pytest.mark.parametrize(("c", "value"), [(0, 0.3183098862), (0.5, 0.6089977810), (0.9, 0.9095383988)])
def test_arc_cosine_kernel(c, value):
    assert 1 - RELU.fall(2.0, np.float64(1 - c)) == pytest.approx(value, abs=5e-11)


def test_normal_form_near_alignment():
    found = critical("tanh", 0.01)
    assert found.normal_gap == pytest.approx(0.183746, abs=5e-7)
    assert found.normal_depth_scale == pytest.approx(10.435787, abs=5e-7)


def test_collapse_curves():
    at = np.array([-1.0, 0, 1, 2])
    smooth = [2.4142135624, 1, 0.4142135624, 0.2360679775]
    kinked = [2.1478990357, 1, 0.5698402910, 0.3819660113]
    assert law.smooth_collapse(at) == pytest.approx(smooth, abs=5e-11)
    assert law.kinked_collapse(at) == pytest.approx(kinked, abs=5e-11)


@pytest.mark.parametrize(
    ("reading", "delta", "nu"),
    [("tanh", 0.5125, 0.4795), ("erf", 0.5109, 0.4831), ("ReLU-formal", 0.6660, 0.3477)],
)
def test_local_slopes_of_the_full_map(reading, delta, nu):
    found = law.critical_maps(reading, np.logspace(-4, -2, 9), SB2)
    m, log_h = found.fixed_gap, np.log(found.h)
    assert np.polyfit(log_h, np.log(m), 1)[0] == pytest.approx(delta, abs=5e-5)
    assert -np.polyfit(log_h, np.log(found.depth_scale), 1)[0] == pytest.approx(nu, abs=5e-5)
    class_of = (2 / 3, 1 / 3) if reading == "ReLU-formal" else (1 / 2, 1 / 2)
    assert (delta, nu) == pytest.approx(class_of, abs=0.03)


def test_decay_without_field_is_a_power_of_depth():
    """At t = h = 0 the gap falls as 2 / (g l) or 4 / (K^2 l^2)."""
    depth = 4000
    smooth = critical("tanh", 0)
    c = law.correlations("tanh", 0, smooth.sw2, SB2, 0.0, smooth.q, depth)
    assert (1 - c[-1]) * smooth.g * depth / 2 == pytest.approx(1, abs=0.01)
    c = law.correlations("ReLU-He", 0, 2.0, 0.0, 0.0, 1.0, depth)
    assert (1 - c[-1]) * law.K**2 * depth**2 / 4 == pytest.approx(1, abs=0.01)


def test_self_correlation_by_layer():
    found = law.self_correlations(
        np.array([profile(n, 0.1, 6) for n in ("constant", "front half", "back half")])
    )
    expected = [
        [0.9, 0.818585, 0.757791, 0.714614, 0.684947, 0.665009],
        [0.8, 0.661696, 0.577445, 0.661750, 0.721846, 0.766512],
        [1, 1, 1, 0.8, 0.661696, 0.577445],
    ]
    assert found == pytest.approx(np.array(expected), abs=6e-7)


# -- schedules


@pytest.mark.parametrize(
    ("name", "xi", "ratio"),
    [
        ("constant", 3.2042483072, 1),
        ("front half", 5.0864271337, 1.4848330906),
        ("back half", 5.0864271337, 0.5151669095),
        ("front third", 6.6651050689, 1.5858296786),
        ("early linear", 3.7278129360, 1.3818295730),
        ("middle", 5.0864271337, 1.256),
        ("late linear", 3.7278129360, 0.618),
    ],
)
def test_schedules_of_six_layers(name, xi, ratio):
    rates = profile(name, 0.1, 6)
    assert effective_depth_scale(rates) == pytest.approx(xi, abs=1e-10)
    assert relative_reach(rates, 0.1) == pytest.approx(
        ratio, abs=1e-10 if ratio not in (1.256, 0.618) else 5e-4
    )


@pytest.mark.parametrize(
    ("s", "share", "ratio"), [(1, 1 / 2, 1.4208392871), (1, 1 / 3, 1.5314445532), (4, 1 / 3, 1.2743851284)]
)
def test_continuum_ratio(s, share, ratio):
    assert front_ratio(s, share) == pytest.approx(ratio, abs=5e-11)


def test_continuum_ratio_at_its_ends():
    assert front_ratio(0, 0.3) == 1.7
    assert front_ratio(2e-4, 0.3) == pytest.approx(1.7, abs=1e-3)
    assert front_ratio(1e6, 0.3) == pytest.approx(1, abs=1e-5)
    assert front_ratio(math.inf, 0.3) == 1


def test_smooth_damage():
    rates = profile("front half", 0.1, 6)
    assert damage(rates, 0.5) == pytest.approx(math.sqrt(0.2) / 2)
    assert effective_depth_scale(rates, 0.5) == pytest.approx(2 / math.sqrt(0.2))
    assert math.isinf(effective_depth_scale(np.zeros(4)))


@given(st.sampled_from(EQUAL_BUDGET), st.floats(0, 0.3), st.integers(1, 64))
def test_equal_budgets_are_equal(name, budget, depth):
    rates = profile(name, budget, depth)
    assert rates.shape == (depth,)
    assert rates.mean() == pytest.approx(budget, abs=1e-12)
    assert rates.min() >= 0
    assert rates.max() <= MOST


@given(st.floats(0.001, 0.3), st.integers(1, 32))
def test_complementary_halves_share_the_reach(budget, half):
    front, back, constant = (
        reach(profile(n, budget, 2 * half), budget) for n in ("front half", "back half", "constant")
    )
    assert front + back == pytest.approx(2 * constant, abs=1e-12)


@given(st.floats(0.001, 0.3), st.integers(2, 64))
def test_no_profile_of_this_mean_and_maximum_does_less_damage_than_a_saturated_one(budget, depth):
    rng = np.random.default_rng(depth)
    saturated = profile("front half", budget, depth)
    drawn = rescaled(rng.random(depth) + 1e-3, budget, depth)
    limit = saturated.max()
    if drawn.max() <= limit and depth % 2 == 0:
        assert damage(saturated, 1 / 3) <= damage(drawn, 1 / 3) + 1e-12


@given(st.lists(st.floats(0, MOST), min_size=1, max_size=64), st.floats(0, 0.3), st.integers(1, 64))
def test_a_drawn_profile_keeps_the_budget_it_is_given(rates, budget, depth):
    found = rescaled(np.array(rates), budget, depth)
    assert found.shape == (depth,)
    assert found.mean() == pytest.approx(budget, abs=1e-9)
    assert found.min() >= 0
    assert found.max() <= MOST


def test_a_drawn_profile_keeps_its_shape():
    assert rescaled(np.array([0.1, 0.2, 0.3]), 0.1, 3) == pytest.approx([0.05, 0.1, 0.15])
    assert rescaled(np.array([0.6, 0.1, 0.0, 0.0]), 0.3, 4) == pytest.approx([0.6, 0.6, 0, 0])
    assert np.all(np.diff(rescaled(np.array([0.4, 0.2, 0.0]), 0.2, 12)) <= 0)


def test_ranked_schedules_are_in_the_order_of_their_reach():
    values = [relative_reach(profile(name, 0.1, 6), 0.1) for name in RANKED]
    assert values == sorted(values, reverse=True)
    assert set(RANKED) < set(EQUAL_BUDGET) < set(SCHEDULES)


# -- invariants

READING = st.sampled_from(sorted(law.READINGS))
RATE = st.one_of(st.just(0.0), st.floats(1e-4, 0.5))


@settings(max_examples=60, deadline=None)
@given(READING, RATE, st.floats(0.5, 6), st.floats(0, 0.5))
def test_the_map_is_increasing_and_convex_and_ends_below_one_iff_there_is_dropout(reading, p, sw2, sb2):
    found = law.correlation_map(reading, p, sw2, sb2)
    m = np.linspace(0, 1, 101)
    gap = found.gap(m)
    assert gap[0] == pytest.approx(found.h, abs=1e-15)
    assert (found.h > 0) == (p > 0)
    assert np.all(np.diff(gap) > 0)
    assert np.all(np.diff(gap, 2) < 1e-9)
    slope = found.slope(m[1:-1])
    assert slope == pytest.approx((gap[2:] - gap[:-2]) / 0.02, rel=2e-2, abs=1e-3)
    fixed = found.fixed_gap
    if math.isnan(fixed):
        assert reading == "ReLU-formal"
        assert found.gap(2.0) >= 2 - 1e-12
        return
    assert fixed >= 0
    assert fixed <= 1 or reading == "ReLU-formal"  # a ReLU's real correlations do not fall below zero
    assert found.gap(fixed) == pytest.approx(fixed, abs=1e-10)
    assert found.depth_scale >= 0


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["tanh", "erf", "ReLU-formal", "ReLU-He"]), st.floats(0, 0.5))
def test_more_dropout_means_less_correlation(reading, sb2):
    rates = np.logspace(-4, math.log10(0.5), 12)
    m = law.critical_maps(reading, rates, sb2).fixed_gap
    # Without biases an odd activation loses all: c* = 0 at any rate.
    assert np.all(np.diff(m) > 0) or (sb2 < 1e-3 and np.all(np.diff(m) >= -1e-12))


@given(st.sampled_from(["tanh", "erf", "GELU", "ReLU-formal"]), st.floats(0.5, 0.999))
def test_without_dropout_and_below_criticality_inputs_align(reading, chi):
    critical_sw2 = law.critical_weights(reading, 0, SB2)
    found = law.correlation_map(reading, 0, chi * critical_sw2, SB2)
    if found.chi < 1:
        assert found.fixed_gap == 0
        assert found.depth_scale == pytest.approx(-1 / math.log(found.chi))


def test_above_criticality_inputs_part_even_without_dropout():
    found = law.correlation_map("tanh", 0, 3.0, SB2)
    assert found.chi > 1
    assert found.fixed_gap > 0.1


def test_depth_goes_to_the_fixed_point():
    found = critical("tanh", 0.1)
    c = law.correlations("tanh", 0.1, found.sw2, SB2, 1.0, found.q, 200)
    assert c[0] == 1
    assert c[-1] == pytest.approx(1 - found.fixed_gap, abs=1e-10)
    late = (c[12:20] - c[-1]) / (c[11:19] - c[-1])
    assert late == pytest.approx(math.exp(-1 / found.depth_scale), rel=0.02)


def test_a_variance_off_its_fixed_point_ends_at_the_same_correlation():
    found = critical("tanh", 0.1)
    c = law.correlations("tanh", 0.1, found.sw2, SB2, 1.0, 5.0, 200)
    assert c[-1] == pytest.approx(1 - found.fixed_gap, abs=1e-10)
    c = law.correlations("ReLU-He", 0.1, 2.0, 0.0, 1.0, 1.0, 200)
    assert c[-1] == pytest.approx(0.6271458849, abs=1e-9)


# -- the collapse is asymptotic


@pytest.mark.parametrize(
    ("h", "worst", "at_zero"),
    [(1e-5, 0.032, 3.45e-5), (1e-4, 0.067, 1.6e-4), (1e-3, 0.139, 7.5e-4), (1e-2, 0.27, 3.5e-3)],
)
def test_kinked_collapse_holds_for_small_fields_only(h, worst, at_zero):
    p = h / (1 + h)
    t = -np.linspace(-2, 2, 41) * law.K ** (2 / 3) * h ** (1 / 3)
    found = law.critical_maps("ReLU-formal", np.full(41, p), 0, t)
    off = found.fixed_gap / found.normal_gap - 1
    assert np.abs(off).max() == pytest.approx(worst, rel=0.02)
    assert abs(off[20]) == pytest.approx(at_zero, rel=0.05)
    assert off.argmin() == 0  # t > 0, the chaotic side, and downwards


def test_smooth_collapse_errs_upwards_and_as_the_root_of_the_field():
    at_zero = []
    for p, worst in ((1e-4, 0.0789), (1e-3, 0.2551)):
        h = critical("tanh", p).h
        g = critical("tanh", p).g
        t = -np.linspace(-2, 2, 41) * math.sqrt(2 * g * h)
        found = law.critical_maps("tanh", np.full(41, p), SB2, t)
        off = found.fixed_gap / found.normal_gap - 1
        assert off.argmax() == 0
        assert off.max() == pytest.approx(worst, rel=0.1)
        at_zero.append(off[20])
    assert at_zero[1] / at_zero[0] == pytest.approx(math.sqrt(10), rel=0.05)


def test_he_relu_reaches_the_kinked_law_as_the_rate_falls():
    for p, ratio in ((1e-5, 0.9993), (1e-4, 0.9967), (1e-3, 0.9852)):
        m = law.correlation_map("ReLU-He", p, 2.0, 0).fixed_gap
        assert m / (p / law.K) ** (2 / 3) == pytest.approx(ratio, abs=6e-5)


def test_at_teaching_size_the_normal_form_is_a_quarter_to_a_third_off():
    found = critical("tanh", 0.1)
    assert 0.25 < 1 - found.normal_gap / found.fixed_gap < 0.35
    assert 0.25 < 1 - found.normal_depth_scale / found.depth_scale < 0.36


# -- traps


def gauss_hermite(function, nodes=80):
    z, weight = np.polynomial.hermite_e.hermegauss(nodes)
    return float(weight @ function(z) / math.sqrt(2 * math.pi))


def test_gauss_hermite_loses_the_critical_point_and_the_trapezoid_rule_does_not():
    sw2, p = 20.0, 0.5
    q = 1.0
    for _ in range(200):
        q = sw2 / (1 - p) * gauss_hermite(lambda z, q=q: np.tanh(math.sqrt(q) * z) ** 2) + SB2
    seen = sw2 * gauss_hermite(lambda z: np.cosh(math.sqrt(q) * z) ** -4.0)
    assert seen == pytest.approx(0.841, abs=1e-3)
    assert sw2 * float(TANH.slope_moment(q)) == pytest.approx(1.772, abs=1e-3)
    # The rule's variance is off too; at the right one chi is larger still.
    true = law.correlation_map("tanh", p, sw2, SB2)
    assert true.chi == pytest.approx(1.796, abs=1e-3)
    assert seen < 1 < true.chi  # no sign change left to search for
    assert law.critical_weights("tanh", p, SB2) == pytest.approx(5.44897342, abs=5e-9)


@pytest.mark.parametrize("activation", [TANH, ERF, GELU])
@pytest.mark.parametrize(("q", "c"), [(0.8, 0.3), (2.0, 0.7), (8.0, 0.95)])
def test_averages_are_those_of_a_fine_rule_in_two_dimensions(activation, q, c):
    from scipy.special import erf

    phi = {
        "tanh": np.tanh,
        "erf": erf,
        "GELU": lambda u: u * (1 + erf(u / math.sqrt(2))) / 2,
    }[activation.name]
    z = np.linspace(-9, 9, 601)
    weight = np.exp(-(z[:, None] ** 2 + z**2) / 2) * (z[1] - z[0]) ** 2 / (2 * np.pi)
    first, second = phi(math.sqrt(q) * z), phi(math.sqrt(q) * (c * z[:, None] + math.sqrt(1 - c * c) * z))
    product = float(np.sum(weight * first[:, None] * second))
    assert activation.second_moment(q) == pytest.approx(float(np.sum(weight * first**2)), abs=1e-11)
    found = activation.second_moment(q) - activation.fall(q, np.float64(1 - c))
    assert found == pytest.approx(product, abs=1e-11)
    step = 1e-5
    slope = (activation.fall(q, 1 - c + step) - activation.fall(q, 1 - c - step)) / (2 * step)
    assert activation.slope(q, np.float64(1 - c)) == pytest.approx(float(slope), rel=1e-6)
    assert activation.slope(q, np.float64(0)) == pytest.approx(
        float(q * activation.slope_moment(q)), rel=1e-9
    )


def test_gaps_near_alignment_keep_their_digits():
    m = np.logspace(-13, -6, 15)
    for activation in (TANH, ERF, RELU):
        linear = activation.slope(1.0, np.float64(0)) * m
        bend = 1 - activation.fall(1.0, m) / linear
        assert np.all(np.abs(bend) < 3 * np.sqrt(m))
    assert 1 - RELU.fall(1.0, m) / (m / 2) == pytest.approx(law.K * np.sqrt(m), rel=1e-2)


def test_one_over_rho_belongs_on_the_diagonal_only():
    """With 1 / rho on the product too, F(1) would be 1 and the fixed point would never move."""
    found = critical("tanh", 0.1)
    product = found.sw2 * float(TANH.second_moment(found.q))
    on_both = (product / 0.9 + SB2) / found.q
    assert on_both == pytest.approx(1, abs=1e-12)
    assert (product + SB2) / found.q == pytest.approx(1 - found.h, abs=1e-12)


def test_formal_critical_relu_has_no_variance():
    """With chi >= rho the biases would have to have a negative variance: sb2 / q* = 1 - chi / rho."""
    assert 1 - 1 / 0.9 < 0
    physical = law.correlation_map("ReLU-He", 0.1, 2.0, 0.1)
    assert (physical.chi, physical.h) == pytest.approx((0.9, 0.1))
    with_biases = law.correlation_map("ReLU-He", 0.1, 1.0, 0.1)  # chi = 0.5 < rho: here q* exists
    formal = law.correlation_map("ReLU-formal", 0.1, 1.0, 0.1)
    assert (with_biases.chi, with_biases.h) == pytest.approx((formal.chi, formal.h))


# -- bad input


def test_gelu_has_no_critical_weights_at_a_high_rate():
    with pytest.raises(BadInput, match=r"No weight variance makes chi = 1 for GELU with p = 0\.1"):
        law.critical_weights("GELU", 0.1, SB2)
    assert np.isnan(law.critical_maps("GELU", np.array([0.01, 0.1]), SB2).sw2).tolist() == [False, True]


def test_critical_gelu_does_not_keep_its_variance():
    """E[phi phi''] > 0 where chi = 1: the variance leaves q*, so that the critical map is a formal one."""
    found = law.critical_maps("GELU", np.array([0.0, 0.01]), SB2)
    assert found.chi == pytest.approx(1)
    assert np.all(found.variance_slope > 1.03)
    assert law.critical_maps("tanh", np.array([0.0, 0.1]), SB2).variance_slope.max() < 1


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, math.nan])
def test_rates_outside_zero_to_one_are_refused(p):
    with pytest.raises(BadInput, match="dropout rate"):
        law.correlation_map("tanh", p, 2.0, SB2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cosine", 0.1, 2.0, 0.1), "There is no activation 'cosine'"),
        (("tanh", 0.1, 0.0, 0.1), "weight variance of 0"),
        (("tanh", 0.1, math.nan, 0.1), "weight variance of nan"),
        (("tanh", 0.1, 2.0, -1.0), "bias variance of -1"),
    ],
)
def test_networks_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(BadInput, match=words):
        law.correlation_map(*arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sawtooth", 0.1, 6), "no schedule"),
        (("constant", 0.5, 6), "mean dropout rate of 0.5"),
        (("constant", 0.1, 0), "depth of 0"),
    ],
)
def test_schedules_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(BadInput, match=words):
        profile(*arguments)
