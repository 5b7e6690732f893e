"""Resampling: whole clusters within strata, refits that reach each resample's optimum, intervals."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.fitting.bootstrap import draw_counts
from explorer.laws import law

TINY = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}


@pytest.fixture(scope="module")
def points():
    N, D = np.meshgrid(np.geomspace(1e4, 1e6, 6), np.geomspace(1e6, 1e8, 10), indexing="ij")
    variables = {"N": N.ravel(), "D": D.ravel()}
    clean = law("chinchilla").predict(variables, **TINY)
    return variables, clean * np.exp(0.01 * np.random.default_rng(0).normal(size=60))


@pytest.fixture(scope="module")
def result(points):
    return fit(law("chinchilla"), *points)


def test_a_resample_ends_where_its_own_fit_ends(points, result):
    ensemble = result.resample(20, seed=3)
    assert len(ensemble) == 20
    variables, loss = points
    counts = draw_counts(np.arange(60), np.zeros(60, int), 20, np.random.default_rng(3)).astype(int)
    for k in range(20):
        rows = np.repeat(np.arange(60), counts[k])
        again = fit(law("chinchilla"), {name: v[rows] for name, v in variables.items()}, loss[rows])
        assert ensemble.objective[k] == pytest.approx(again.objective, rel=1e-4)


def test_same_seed_same_ensemble(result):
    first, second, other = (result.resample(10, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.coefficients["alpha"], second.coefficients["alpha"])
    assert not np.array_equal(first.coefficients["alpha"], other.coefficients["alpha"])


def test_interval_holds_the_curve_and_widens_outside(result):
    ensemble = result.resample(200)
    near, far = {"N": 1e5, "D": 1e7}, {"N": 1e8, "D": 1e10}
    widths = []
    for variables in (near, far):
        lower, upper = ensemble.interval(variables)
        assert lower < law("chinchilla").predict(variables, **TINY) < upper
        widths.append(float(upper - lower))
    assert widths[1] > 3 * widths[0]
    wide, narrow = (ensemble.interval(far, coverage) for coverage in (0.95, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    lower, upper = ensemble.interval({"N": np.ones((3, 1)) * 1e5, "D": np.ones(4) * 1e7})
    assert lower.shape == upper.shape == (3, 4)


def test_interval_of_a_coefficient_or_of_any_number_made_of_them(result):
    ensemble = result.resample(100)
    low, high = ensemble.coefficient_interval("alpha")
    assert low < result.coefficients["alpha"] < high
    doubled = ensemble.coefficient_interval(lambda alpha, **rest: 2 * alpha)
    assert doubled == pytest.approx((2 * low, 2 * high))


def test_held_coefficients_stay_held(points):
    ensemble = fit(law("chinchilla"), *points, fixed={"E": 1.2}).resample(10)
    assert (ensemble.coefficients["E"] == 1.2).all()


def test_errors_that_go_together_ask_for_clusters(points):
    variables, _ = points
    clean = law("chinchilla").predict(variables, **TINY)
    run = np.repeat(np.arange(6), 10)
    shared = 0.01 * np.random.default_rng(5).normal(size=6)[run]
    fitted = fit(law("chinchilla"), variables, clean * np.exp(shared))
    widths = []
    for clusters in (None, run):
        low, high = fitted.resample(200, clusters=clusters).coefficient_interval("alpha")
        widths.append(high - low)
    assert widths[1] > widths[0]


def test_clusters_are_drawn_whole_within_their_stratum():
    cluster = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    stratum = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    counts = draw_counts(cluster, stratum, 50, np.random.default_rng(0))
    assert counts.shape == (50, 8)
    for code in range(4):
        members = counts[:, cluster == code]
        assert (members == members[:, :1]).all()
    assert (counts[:, 0] + counts[:, 3] == 2).all()
    assert (counts[:, 5] + counts[:, 6] == 2).all()
    assert set(counts[:, 0]) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"clusters": [1, 2]}, r"clusters has shape \(2,\) for 60 points"),
        ({"strata": ["a"] * 59}, r"strata has shape \(59,\)"),
        ({"clusters": ["one"] * 60, "strata": ["a", "b"] * 30}, "points in two strata"),
    ],
)
def test_bad_resampling_raises_one_sentence(result, options, sentence):
    with pytest.raises(BadInput, match=sentence):
        result.resample(**options)


def test_bad_interval_raises_one_sentence(result):
    ensemble = result.resample(5)
    with pytest.raises(BadInput, match=r"coverage is 1\.5"):
        ensemble.interval({"N": 1e5, "D": 1e7}, coverage=1.5)
    with pytest.raises(BadInput, match="missing D"):
        ensemble.interval({"N": 1e5})
    with pytest.raises(BadInput, match="has no coefficient 'gamma'"):
        ensemble.coefficient_interval("gamma")
    with pytest.raises(BadInput, match="one number for each"):
        ensemble.coefficient_interval(lambda **c: 1.0)
