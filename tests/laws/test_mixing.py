"""The laws of data mixing: published values, conditions of the split, invariants, derivatives, the best mixture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.laws import mixing
from explorer.laws.mixing import Coefficients
from explorer.simplex import lattice

SLIMPAJAMA = Coefficients.of(
    b=(1.2931, 0.2504, 0.7759, 4.2533, 0.8209, 2.1420, 0.9245),
    c=(6.1217, 3.3571, 7.8612, 7.3098, 2.3083, 3.8489, 2.3059),
    a=(0.9685, 1.6999, 0.3088, 0.0827, 1.0596, 0.0777, 0.5132),
    A=(0.3931, 0.4080, 0.7319, 1.2868, 0.7130, 2.0230, 0.8802),
    E=(0.9448, 0.8770, 0.5612, 0.0, 2.4074, 0.0001, 1.3406),
    H=4.877181,
)
EXAMPLE = Coefficients.of((0.3, 0.5, 0.8), (3, 2, 5), (0.3, 0.4, 0.5), (0.5, 1, 0.8), (1.5, 1, 0.7), 0.5)


@st.composite
def problems(draw, fewest=1, most=8):
    """A mixture, N, D and coefficients, with N above H."""
    K = draw(st.integers(fewest, most))

    def each(low, high):
        values = draw(st.lists(st.floats(np.log(low), np.log(high)), min_size=K, max_size=K))
        return np.exp(values)

    H = draw(st.floats(0.01, 2.0))
    coefficients = Coefficients.of(
        each(0.02, 3), each(0.05, 20), each(0.02, 2), each(0.02, 5), each(0.01, 3), H
    )
    raw = each(0.05, 1)
    return raw / raw.sum(), H * np.exp(draw(st.floats(0.01, 8))), np.exp(draw(st.floats(-2, 6))), coefficients


def test_published_set_at_the_uniform_mixture():
    h = np.full(7, 1 / 7)
    x = mixing.split_capacity(h, 1300, SLIMPAJAMA.b, SLIMPAJAMA.c, SLIMPAJAMA.H).x
    expected = [91.695963, 660.488751, 295.190849, 9.325557, 134.969083, 27.402107, 110.190775]
    assert x == pytest.approx(expected, abs=6e-7)
    assert x.sum() == pytest.approx(1329.263086, abs=1e-9)
    losses = mixing.loss(h, 1300, 30, SLIMPAJAMA)
    expected = [1.05858242, 1.57187393, 1.12342913, 1.14143628, 2.60111511, 1.81001014, 1.78753277]
    assert losses == pytest.approx(expected, abs=5.1e-9)
    assert mixing.mean_loss(h, 1300, 30, SLIMPAJAMA) == pytest.approx(1.58485425, abs=5.1e-9)


@pytest.mark.parametrize(
    ("h", "x", "L", "mean"),
    [
        ((1, 1, 1), (40.8703646, 26.733698, 33.3959374), (2.83401813, 2.00461333, 1.44018371), 2.09293839),
        ((6, 3, 1), (60.7976148, 23.7603773, 16.4420079), (2.66698905, 2.05469573, 2.03236086), 2.25134855),
        ((1, 1, 8), (20.8559327, 14.9223536, 65.2217137), (3.20601406, 2.51773954, 1.15963212), 2.29446190),
    ],
)
def test_three_domains(h, x, L, mean):
    h = np.array(h) / sum(h)
    assert mixing.split_capacity(h, 100, EXAMPLE.b, EXAMPLE.c, 0.5).x == pytest.approx(x, abs=5.1e-8)
    assert mixing.loss(h, 100, 10, EXAMPLE) == pytest.approx(L, abs=5.1e-9)
    assert mixing.mean_loss(h, 100, 10, EXAMPLE) == pytest.approx(mean, abs=5.1e-9)


def test_best_mixture_of_three_domains():
    grid = lattice(3, 200)
    means = mixing.mean_loss(grid, 100, 10, EXAMPLE)
    assert grid[means.argmin()] == pytest.approx((0.265, 0.380, 0.355), abs=1e-12)
    assert means.min() == pytest.approx(2.08835994, abs=5.1e-8)
    best = mixing.best_mixture(100, 10, EXAMPLE)
    assert best == pytest.approx(grid[means.argmin()], abs=0.005)
    assert mixing.mean_loss(best, 100, 10, EXAMPLE) <= means.min()


@given(problems())
def test_the_split_keeps_its_budget_and_its_conditions(problem):
    h, N, _, (b, c, *_, H) = problem
    x, price = mixing.split_capacity(h, N, b, c, H)
    budget = N + (len(h) - 1) * H
    assert x.sum() == pytest.approx(budget, rel=1e-11)
    assert (x >= H * (1 - 1e-12)).all()
    marginal = h * b * c * x ** (-b - 1)
    tail = x > H * (1 + 1e-9)
    assert marginal[tail] == pytest.approx(np.full(tail.sum(), price), rel=1e-8)
    assert (marginal[~tail] <= price * (1 + 1e-8)).all()


@given(problems(), st.randoms(use_true_random=False))
def test_no_other_split_has_a_smaller_weighted_loss(problem, random):
    h, N, _, (b, c, *_, H) = problem
    x = mixing.split_capacity(h, N, b, c, H).x
    least = (h * c * x**-b).sum()
    tails = np.array([random.random() + 1e-3 for _ in h])
    other = H + (N - H) * tails / tails.sum()
    for share in (0.01, 0.3, 1.0):
        moved = (1 - share) * x + share * other
        assert (h * c * moved**-b).sum() >= least * (1 - 1e-9)


@given(problems(), st.randoms(use_true_random=False))
def test_domains_may_be_listed_in_any_order(problem, random):
    h, N, D, (b, c, a, A, E, H) = problem
    order = np.array(random.sample(range(len(h)), len(h)))
    shuffled = Coefficients(b[order], c[order], a[order], A[order], E[order], H)
    assert mixing.loss(h[order], N, D, shuffled) == pytest.approx(
        mixing.loss(h, N, D, problem[3])[order], rel=1e-8
    )


@given(problems(), st.floats(1.01, 10))
def test_loss_falls_with_size_tokens_and_own_weight(problem, factor):
    h, N, D, coefficients = problem
    here = mixing.loss(h, N, D, coefficients)
    slack = 1e-9 * (1 + here)
    assert (mixing.loss(h, N * factor, D, coefficients) <= here + slack).all()
    assert (mixing.loss(h, N, D * factor, coefficients) < here).all()
    for i in range(len(h)) if len(h) > 1 else ():
        more = h.copy()
        more[i] = h[i] + (1 - h[i]) * (1 - 1 / factor)
        more[np.arange(len(h)) != i] *= (1 - more[i]) / (1 - h[i])
        assert mixing.loss(more, N, D, coefficients)[i] <= here[i] + slack[i]


@given(problems(), st.floats(0.3, 3))
def test_only_ratios_of_weights_and_of_scales_split_the_capacity(problem, factor):
    h, N, _, (b, c, *_, H) = problem
    x = mixing.split_capacity(h, N, b, c, H).x
    assert mixing.split_capacity(h * factor, N, b, c, H).x == pytest.approx(x, rel=1e-7)
    assert mixing.split_capacity(h, N, b, c * factor, H).x == pytest.approx(x, rel=1e-7)


@given(problems(1, 1))
def test_one_domain_is_chinchilla(problem):
    h, N, D, (b, c, a, A, E, _) = problem
    expected = c * N**-b + A * D**-a + E
    assert mixing.loss(h, N, D, problem[3]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("N", [0.5, 0.3, 0.01])
def test_a_model_no_larger_than_the_head_has_nothing_to_split(N):
    split = mixing.split_capacity(np.array([0.5, 0.3, 0.2]), N, EXAMPLE.b, EXAMPLE.c, 0.5)
    assert split.x == pytest.approx([0.5] * 3, abs=0)
    assert np.isnan(split.price)
    assert np.isfinite(mixing.loss((0.5, 0.3, 0.2), N, 10, EXAMPLE)).all()
    assert np.isfinite(mixing.best_mixture(N, 10, EXAMPLE)).all()


def test_a_weight_of_zero_counts_as_one_ten_thousandth():
    none, little = (mixing.loss((w, 0.5, 0.5), 100, 10, EXAMPLE) for w in (0.0, 1e-4))
    assert none == pytest.approx(little, rel=1e-12)
    assert np.isfinite(none).all()


def test_mean_over_domains_and_mean_over_tokens_have_other_optima():
    """The best mixture counts every domain the same; the training objective counts a domain by its weight."""
    grid = lattice(3, 100)
    L = mixing.loss(grid, 100, 10, EXAMPLE)
    equal, by_weight = grid[L.mean(axis=1).argmin()], grid[(grid * L).sum(axis=1).argmin()]
    assert np.abs(equal - by_weight).sum() > 0.5
    assert by_weight == pytest.approx((0, 0, 1))  # it puts all on the domain that ends lowest


@settings(max_examples=60)
@given(problems(1, 5))
def test_jacobian_is_that_of_differences(problem):
    h, N, D, coefficients = problem
    (b, c, a, A, E, H), K = coefficients, len(h)
    x = mixing.split_capacity(h, N, b, c, H).x
    if (np.abs(x / H - 1) < 1e-3).any() and (x > H * (1 + 1e-9)).any():
        return  # at the kink where a domain leaves the head there is no derivative
    exact = mixing.jacobian(h, N, D, coefficients)
    theta = np.concatenate([np.log(b), np.log(c), np.log(a), np.log(A), E, [np.log(H)]])

    def at(values):
        parts = [values[i * K : (i + 1) * K] for i in range(5)]
        logs = [np.exp(part) for part in parts[:4]]
        return mixing.loss(h, N, D, Coefficients(*logs, parts[4], float(np.exp(values[-1]))))

    for k in range(len(theta)):
        step = np.zeros_like(theta)
        step[k] = 1e-5
        numeric = (at(theta + step) - at(theta - step)) / 2e-5
        assert exact[:, k] == pytest.approx(numeric, rel=2e-4, abs=1e-6 * (1 + np.abs(exact).max()))


def test_slope_of_the_mean_is_that_of_differences():
    h = np.array([0.2, 0.5, 0.3])
    slope = mixing.mean_slope(h, 100, 10, EXAMPLE)
    for i in range(3):
        up, down = h.copy(), h.copy()
        up[i] *= np.exp(1e-6)
        down[i] *= np.exp(-1e-6)
        numeric = (mixing.mean_loss(up, 100, 10, EXAMPLE) - mixing.mean_loss(down, 100, 10, EXAMPLE)) / 2e-6
        assert slope[i] == pytest.approx(numeric, rel=1e-6)


@settings(max_examples=40)
@given(problems(2, 3))
def test_no_lattice_point_is_better_than_the_best_mixture(problem):
    _, N, D, coefficients = problem
    best = mixing.best_mixture(N, D, coefficients)
    assert best.sum() == pytest.approx(1, abs=1e-9)
    assert (best >= mixing.FLOOR * (1 - 1e-9)).all()
    grid = mixing.mean_loss(lattice(coefficients.domains, 60), N, D, coefficients)
    here = mixing.mean_loss(best, N, D, coefficients)
    assert here <= grid.min() + 1e-4 * (grid.max() - grid.min()) + 1e-9


def test_more_data_moves_the_optimum():
    """With more data the noise fades, and the optimum moves to the domains that lack capacity."""
    few, many = (mixing.best_mixture(100, D, EXAMPLE) for D in (1, 1e4))
    noise = [mixing.terms(h, 100, D, EXAMPLE).noise.sum() for h, D in ((few, 1), (many, 1e4))]
    assert noise[1] < 0.1 * noise[0]
    assert np.abs(few - many).sum() > 0.05


def test_arrays_broadcast():
    h = lattice(3, 4)[:, None]
    N, D = np.array([10.0, 100.0]), np.array([1.0, 10.0])
    assert mixing.loss(h, N, D, EXAMPLE).shape == (15, 2, 3)
    assert mixing.jacobian(h, N, D, EXAMPLE).shape == (15, 2, 3, 16)
    assert mixing.best_mixture(N[:, None], D, EXAMPLE).shape == (2, 2, 3)


@pytest.mark.filterwarnings("error")
def test_stable_at_the_extremes():
    coefficients = Coefficients.of((0.01, 5), (0.01, 30), (0.01, 3), (0.01, 10), (0, 3), 1e-3)
    for N in (1e-2, 1e12):
        for D in (1e-3, 1e12):
            h = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
            assert np.isfinite(mixing.loss(h, N, D, coefficients)).all()
            assert np.isfinite(mixing.best_mixture(N, D, coefficients)).all()


def test_exponential_law():
    c, k, t = (1.0, 0.5), (2.0, 1.0), ((-2.0, 0.3, 0.0), (0.1, -1.0, 0.2))
    r = np.array([0.2, 0.3, 0.5])
    expected = [1 + 2 * np.exp(-0.4 + 0.09), 0.5 + np.exp(0.02 - 0.3 + 0.1)]
    assert mixing.exponential_loss(r, c, k, t) == pytest.approx(expected, rel=1e-12)
    assert mixing.exponential_loss(np.tile(r, (4, 1)), c, k, t).shape == (4, 2)


def test_linear_law():
    assert mixing.linear_loss((0.2, 0.8), (1.0,), ((1.0, -1.0),)) == pytest.approx([0.4])
