"""Gamma-similarity, its bounds and the stability edge: values worked out beforehand, and what must always hold."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from explorer.exhibits.mars_gamma import law, stability

B1 = 0.95
gammas = st.floats(0, 1)
positive = st.floats(-2, 2).map(lambda power: 10.0**power)
rates = st.floats(0.8, 0.99)


def test_corrected_gradient():
    assert law.corrected_gradient(0.3, 0.2, 0.025, B1) == pytest.approx(0.3475, abs=1e-15)


@pytest.mark.parametrize(
    ("delta", "optimum", "least"),
    [(1, 0.5, 0.70710678), (6.244998, 0.02500000, 0.98742088), (20, 0.00249377, 0.99875234)],
)
def test_similarity_is_least_at_its_optimum(delta, optimum, least):
    assert law.similarity_optimum(1, delta) == pytest.approx(optimum, abs=5e-9)
    assert law.least_similarity(1, delta) == pytest.approx(least, abs=5e-9)
    assert law.similarity(law.similarity_optimum(1, delta), 1, delta) == pytest.approx(least, abs=5e-9)


@pytest.mark.parametrize(
    ("gamma", "a", "eta", "T"),
    [
        (0, 11.25, 0.229668485, 38.8328157),
        (0.025, 11.8195313, 0.225329033, 39.5036361),
        (0.1, 27.1125, 0.161109296, 53.6557319),
        (1, 1800, 0.0230274635, 351.411255),
    ],
)
def test_steps_of_theorem_1_with_noisy_differences(gamma, a, eta, T):
    found = law.steps(gamma, L=1, delta=20, sigma=1, eps=0.5, Delta0=1)
    assert found.beta == 0.25
    assert found.a == pytest.approx(a, rel=5e-9)
    assert found.eta == pytest.approx(eta, rel=5e-9)
    assert pytest.approx(T, rel=5e-9) == found.T


@pytest.mark.parametrize(
    ("gamma", "T"), [(0, 38.8328157), (0.1, 36.2090892), (0.5, 27.8745079), (1, 28.9705627)]
)
def test_steps_of_theorem_1_with_quiet_differences(gamma, T):
    assert pytest.approx(T, rel=5e-9) == law.steps(gamma, L=1, delta=1, sigma=1, eps=0.5, Delta0=1).T


@pytest.mark.parametrize(("delta", "gamma", "T"), [(20, 0.00621, 38.7493542), (1, 0.714285, 26.3427433)])
def test_least_steps_of_theorem_1(delta, gamma, T):
    best = law.steps_optimum(1, delta, 1, 0.5)
    assert best == pytest.approx(gamma, abs=2e-6)
    assert pytest.approx(T, rel=5e-9) == law.steps(best, 1, delta, 1, 0.5, 1).T


def test_surrogate_of_corollary_2():
    J = law.surrogate(np.array([0, 0.025, 0.1, 1]), 1, 20, 1, 0.5, 1)
    assert pytest.approx([24, 24.3658428, 31.9453697, 160], rel=5e-9) == J
    best = law.surrogate_optimum(1, 20, 1, 0.5)
    assert best == pytest.approx(0.00750010587, rel=2e-9)
    assert law.surrogate(best, 1, 20, 1, 0.5, 1) == pytest.approx(23.9101681, rel=5e-9)
    assert law.speed_up(1, 20, 1, 0.5) == pytest.approx(6.69171371, rel=2e-9)


def test_a_penalty_above_the_similarity_makes_mvr_best():
    assert law.penalty_ratio(1, 1, 1, 0.5) == 2  # B / (A delta) = 16 / 8
    assert law.surrogate_optimum(1, 1, 1, 0.5) == 1
    assert law.speed_up(1, 1, 1, 0.5) == 1


def test_surrogate_at_little_noise():
    best = law.surrogate_optimum(1, 5, 0.1, 0.1)
    assert best == pytest.approx(0.0769230769, rel=2e-9)
    assert law.surrogate(best, 1, 5, 0.1, 0.1, 1) == pytest.approx(192.307692, rel=5e-9)
    assert law.surrogate(1, 1, 5, 0.1, 0.1, 1) == pytest.approx(500)
    assert law.speed_up(1, 5, 0.1, 0.1) == pytest.approx(2.6)


def test_bound_of_corollary_1_and_its_crossing():
    early = law.horizon_bound(1e4, np.array([0, 0.025, 0.1, 1]), 1, 20, 1, 1)
    assert early == pytest.approx([0.0505598557, 0.0507014514, 0.0555663372, 0.0758952630], rel=2e-9)
    late = law.horizon_bound(1e6, np.array([0, 0.025, 1]), 1, 20, 1, 1)
    assert late == pytest.approx([0.00447922032, 0.00445883097, 0.00351182129], rel=2e-9)
    grid = np.linspace(0, 0.05, 5001)
    bound = law.horizon_bound(1e4, grid, 1, 20, 1, 1)
    assert grid[bound.argmin()] == pytest.approx(0.00992, abs=1e-5)
    assert bound.min() == pytest.approx(0.0504276298, rel=2e-9)


def test_corollary_1_says_nothing_where_its_mixing_is_above_one():
    assert law.horizon_mixing(1, 0, 1, 20, 0.5, 1) > 1
    assert np.isnan(law.horizon_bound(1, 0, 1, 20, 0.5, 1))


def test_coordinate_example_is_tight():
    L, delta = law.coordinate_example(10, 10)
    gamma = np.array([0, 0.1, 1])
    assert law.similarity(gamma, L, delta) ** 2 == pytest.approx([1, 0.9, 9])
    assert law.similarity_optimum(L, delta) == pytest.approx(0.1)
    # The constant itself, from the 10 minibatches: differences along e_1 are Lh for i = 1, else 0.
    minibatches = np.array([10.0] + [0.0] * 9)
    exact = [np.mean((g * minibatches - minibatches.mean()) ** 2) for g in gamma]
    assert exact == pytest.approx([1, 0.9, 9])


@pytest.mark.parametrize(("gamma", "edge"), [(0, 78), (0.025, 40), (0.1, 16.25), (0.5, 3.9), (1, 2)])
def test_stability_edge(gamma, edge):
    assert stability.edge(gamma, B1) == pytest.approx(edge, rel=1e-12)
    assert stability.gamma_at_edge(edge, B1) == pytest.approx(gamma, abs=1e-12)


@pytest.mark.parametrize(("gamma", "below", "above"), [(0.025, 0.996096, 1.003896), (1, 0.998, 1.002)])
def test_spectral_radius_beside_the_edge(gamma, below, above):
    edge = stability.edge(gamma, B1)
    assert stability.spectral_radius(gamma, 0.999 * edge, B1) == pytest.approx(below, abs=1e-6)
    assert stability.spectral_radius(gamma, 1.001 * edge, B1) == pytest.approx(above, abs=1e-6)


@pytest.mark.parametrize(
    ("noise_h", "gamma", "spread"),
    [
        (2, (0, 0.025, 0.1, 0.5, 1), (0.06260032, 0.05914109, 0.05087568, 0.03044000, 0.02186855)),
        (3, (0, 0.1, 1), (0.09112150, 0.06890001, 0.03280283)),
        (0.5, (0, 1), (0.05069873, 0.01749484)),
    ],
)
def test_stationary_spread(noise_h, gamma, spread):
    found = stability.stationary_spread(np.array(gamma), 0.1, 1, noise_h, 1, B1)
    assert found == pytest.approx(spread, abs=6e-9)


def test_stationary_spread_is_least_near_mvr():
    gamma = np.linspace(0, 2, 2001)
    assert gamma[stability.stationary_spread(gamma, 0.1, 1, 3, 1, B1).argmin()] == pytest.approx(
        1.027, abs=1e-3
    )


# -- what must always hold


@given(gammas, positive, positive)
def test_similarity_between_its_ends(gamma, L, delta):
    assert law.similarity(0, L, delta) == pytest.approx(L)
    assert law.similarity(1, L, delta) == pytest.approx(delta)
    least = law.similarity(law.similarity_optimum(L, delta), L, delta)
    assert least == pytest.approx(law.least_similarity(L, delta))
    assert least <= law.similarity(gamma, L, delta) * (1 + 1e-12)
    assert least < min(L, delta)


@given(gammas, positive, positive, positive, positive)
def test_the_surrogates_optimum(gamma, L, delta, sigma, eps):
    best = float(law.surrogate_optimum(L, delta, sigma, eps))
    assert law.similarity_optimum(L, delta) * (1 - 1e-12) <= best <= 1
    ratio = law.penalty_ratio(L, delta, sigma, eps)
    assume(abs(ratio - 1) > 1e-9)
    J = float(law.surrogate(best, L, delta, sigma, eps, 1))
    assert min(1, float(law.surrogate(gamma, L, delta, sigma, eps, 1)) / J) == pytest.approx(1, abs=1e-9)
    assert law.speed_up(L, delta, sigma, eps) >= 1 - 1e-12
    if ratio > 1:
        assert best == 1


@given(gammas, positive, positive, positive, positive)
def test_theorem_1_is_least_at_its_optimum(gamma, L, delta, sigma, eps):
    assume(sigma > eps * (1 + 1e-6))
    best = law.steps_optimum(L, delta, sigma, eps)
    assert 0 < best < 1
    least = law.steps(best, L, delta, sigma, eps, 1).T
    assert least <= law.steps(gamma, L, delta, sigma, eps, 1).T * (1 + 1e-12)


@given(gammas, positive, positive, positive, st.floats(0, 1))
def test_gamma_plays_no_role_without_noise_above_the_target(gamma, L, delta, eps, share):
    sigma = max(share, 1e-3) * eps
    found = law.steps(gamma, L, delta, sigma, eps, 1)
    assert found.beta == 1
    assert found.a == 0
    assert found.T == law.steps(0, L, delta, sigma, eps, 1).T
    assert np.isnan(law.steps_optimum(L, delta, sigma, eps))


@given(gammas, positive, positive, positive, positive)
def test_corollary_1_falls_with_the_horizon(gamma, L, delta, sigma, Delta0):
    bound = law.horizon_bound(np.logspace(0, 8, 60), gamma, L, delta, sigma, Delta0)
    valid = bound[np.isfinite(bound)]
    assert np.all(np.diff(valid) < 0)
    assert np.isnan(
        bound[: len(bound) - len(valid)]
    ).all()  # it starts to hold at some T and holds from there on


@given(positive, st.integers(1, 1024))
def test_a_batch_shrinks_the_variance_in_proportion(constant, batch):
    assert law.of_batch(constant, batch) ** 2 * batch == pytest.approx(constant**2)


@given(gammas, rates)
def test_the_edge_is_where_the_iterate_stops_shrinking(gamma, b1):
    edge = stability.edge(gamma, b1)
    assert stability.spectral_radius(gamma, edge, b1) == pytest.approx(1, abs=1e-7)
    assert stability.spectral_radius(gamma, 0.999 * edge, b1) < 1
    assert stability.spectral_radius(gamma, 1.001 * edge, b1) > 1


@given(gammas, gammas, rates)
def test_the_edge_falls_with_gamma(one, other, b1):
    assume(abs(one - other) > 1e-9)
    low, high = sorted((one, other))
    assert stability.edge(high, b1) < stability.edge(low, b1)


@given(gammas, st.floats(-2, 2), st.floats(0, 4), rates)
def test_a_stationary_spread_exists_only_where_the_recursion_contracts(gamma, log_eta, noise_h, b1):
    A, B, _ = stability.second_moments(gamma, 10**log_eta, 1, noise_h, 1, b1)
    radius = np.abs(np.linalg.eigvals(np.kron(A, A) + np.kron(B, B))).max()
    assume(abs(radius - 1) > 1e-6)
    spread = stability.stationary_spread(gamma, 10**log_eta, 1, noise_h, 1, b1)
    assert bool(np.isfinite(spread)) == bool(radius < 1)


@given(gammas, rates)
def test_without_curvature_noise_the_spread_exists_below_the_edge(gamma, b1):
    edge = stability.edge(gamma, b1)
    assert np.isfinite(stability.stationary_spread(gamma, 0.99 * edge, 1, 0, 1, b1))
    assert np.isnan(stability.stationary_spread(gamma, 1.01 * edge, 1, 0, 1, b1))
