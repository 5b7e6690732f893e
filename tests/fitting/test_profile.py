"""Intervals by profile likelihood and by the wild bootstrap: known answers, bounds, and what is refused."""

import json
import time

import numpy as np
import pytest
from scipy.special import stdtrit

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.fitting.curvature import Curvature
from explorer.fitting.profile import profile, profile_rise
from explorer.fitting.target import optimal_parameters, optimal_tokens
from explorer.fitting.wild import wild
from explorer.laws import Coefficient, Law, law

TINY = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}
LEAST_SQUARES = 1e3
LINE = Law(
    name="power",
    title="",
    variables=("x",),
    coefficients=(Coefficient("k", 1.0, 1e-6, 1e6, log=True), Coefficient("p", 0.5, -3.0, 3.0)),
    function=lambda x, k, p: k * x**-p,
    source="",
    validity="",
)


def ladder(sizes=6, tokens=10):
    N, D = np.meshgrid(np.geomspace(1e4, 1e6, sizes), np.geomspace(1e6, 1e8, tokens), indexing="ij")
    return {"N": N.ravel(), "D": D.ravel()}


def noisy(variables, seed=0, sd=0.01):
    clean = law("chinchilla").predict(variables, **TINY)
    return clean * np.exp(sd * np.random.default_rng(seed).normal(size=clean.shape))


@pytest.fixture(scope="module")
def result():
    return fit(law("chinchilla"), ladder(), noisy(ladder()))


def test_a_straight_line_has_the_textbook_interval():
    random = np.random.default_rng(3)
    x = np.geomspace(1, 100, 12)
    loss = 5 * x**-0.7 * np.exp(0.05 * random.normal(size=12))
    found = profile(fit(LINE, {"x": x}, loss, delta=LEAST_SQUARES), "p", equal=True)
    design = np.stack([np.ones(12), -np.log(x)], axis=1)
    theta, squares, *_ = np.linalg.lstsq(design, np.log(loss), rcond=None)
    error = np.sqrt(squares[0] / 10 * np.linalg.inv(design.T @ design)[1, 1])
    assert found.freedom == 10
    assert found.value == pytest.approx(theta[1], rel=1e-7)
    assert found.lower == pytest.approx(theta[1] - stdtrit(10, 0.95) * error, rel=1e-3)
    assert found.upper == pytest.approx(theta[1] + stdtrit(10, 0.95) * error, rel=1e-3)


def test_uneven_noise_has_the_textbook_sandwich():
    random = np.random.default_rng(4)
    x = np.geomspace(1, 100, 12)
    loss = 5 * x**-0.7 * np.exp(0.05 * random.normal(size=12))
    fitted = fit(LINE, {"x": x}, loss, delta=LEAST_SQUARES)
    variance, freedom = Curvature(fitted._problem, fitted._minima[0]).variance(np.array([[0.0, 1.0]]))
    design = np.stack([np.ones(12), -np.log(x)], axis=1)
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    residual = np.log(loss) - hat @ np.log(loss)
    weight = (bread @ design.T)[1] / np.sqrt(1 - np.diag(hat))
    assert variance[0] == pytest.approx(np.sum((weight * residual) ** 2), rel=1e-6)
    # Bell and McCaffrey's degrees of freedom, written out.
    B = (np.eye(12) - hat) * weight
    assert freedom[0] == pytest.approx(np.trace(B.T @ B) ** 2 / np.sum((B.T @ B) ** 2), rel=1e-6)


def test_clusters_of_one_point_are_the_default(result):
    own = profile(result, "alpha", clusters=np.arange(60))
    plain = profile(result, "alpha")
    assert (own.lower, own.upper, own.freedom) == pytest.approx((plain.lower, plain.upper, plain.freedom))


def test_ends_are_where_the_law_fits_worse_by_what_noise_explains(result):
    for coverage in (0.5, 0.9, 0.99):
        found = profile(result, "beta", coverage)
        assert found.lower < found.value < found.upper
        for end, sign in ((found.lower, -1), (found.upper, 1)):
            rise, freedom = profile_rise(result, "beta", end)
            assert freedom == found.freedom
            assert sign * rise == pytest.approx(stdtrit(freedom, 0.5 + coverage / 2), rel=0.02)


def test_the_profile_is_the_best_fit_with_the_coefficient_held(result):
    found = profile(result, "alpha")
    far = int(np.argmax(found.rise))
    held = fit(result.law, ladder(), noisy(ladder()), fixed={"alpha": float(found.values[far])})
    unit = Curvature(result._problem, result._minima[0])
    slope = np.zeros((1, 5))
    slope[0, result.law.names.index("alpha")] = 1.0
    scale = unit.variance(slope)[0] / unit.give(slope)
    rise = np.sqrt(2 * (held.objective - result.objective) / scale[0])
    assert found.rise[far] == pytest.approx(rise, rel=2e-3)


def test_intervals_of_numbers_made_of_the_coefficients(result):
    N_star, D_star = (profile(result, of(result.law, 6e16)) for of in (optimal_parameters, optimal_tokens))
    # N* D* = C / 6, so the ends change sides.
    assert N_star.value * D_star.value == pytest.approx(1e16, rel=1e-9)
    assert N_star.lower * D_star.upper == pytest.approx(1e16, rel=5e-3)
    assert N_star.name == "N* at 6e+16 FLOP"
    alone = profile(result, "alpha")
    same = profile(result, lambda alpha, **rest: 2 * alpha)
    assert (same.lower / 2, same.upper / 2) == pytest.approx((alone.lower, alone.upper), rel=2e-3)
    below = profile(result, lambda alpha, beta, **rest: alpha - beta)
    assert below.lower < below.value < below.upper < 1


def test_intervals_of_the_loss_have_the_shape_asked_for(result):
    at = {"N": np.geomspace(1e5, 1e8, 6), "D": 1e8}
    band = profile(result, at)
    assert band.lower.shape == band.upper.shape == band.freedom.shape == (6,)
    assert band.values.shape == band.rise.shape
    assert (np.diff(band.upper / band.lower)[1:] > 0).all()  # wider further out
    one = profile(result, {"N": at["N"][2], "D": 1e8})
    assert (one.lower, one.upper) == pytest.approx((band.lower[2], band.upper[2]), rel=1e-5)
    assert [note.name for note in band.notes] == ["extrapolation"]
    json.dumps(band.to_json())
    json.dumps(one.to_json())


def test_an_end_that_is_never_reached_is_told():
    variables = ladder()
    loss = law("chinchilla").predict(variables, **{**TINY, "E": 0.02})
    loss = loss * np.exp(0.02 * np.random.default_rng(0).normal(size=60))
    found = profile(fit(law("chinchilla"), variables, loss), "E")
    assert found.open_below
    assert [note.name for note in found.notes] == ["open-end"]
    assert not found.open_above
    assert found.lower < 1e-3
    assert 0.02 < found.upper < 3


def test_a_coefficient_at_its_bound_has_an_interval_from_there():
    bounded = fit(law("chinchilla"), ladder(), noisy(ladder()), bounds={"alpha": (0.01, 0.34)})
    found = profile(bounded, "alpha")
    assert found.value == found.upper == pytest.approx(0.34)
    assert found.open_above
    assert 0.2 < found.lower < 0.34


def test_shared_errors_widen_what_they_touch(result):
    run = np.repeat(np.arange(6), 10)
    shift = 0.02 * np.random.default_rng(5).normal(size=6)[run]
    variables = ladder()
    fitted = fit(law("chinchilla"), variables, noisy(variables, 1, 0.003) * np.exp(shift))
    points, runs = profile(fitted, "alpha"), profile(fitted, "alpha", clusters=run)
    assert runs.upper - runs.lower > 2 * (points.upper - points.lower)
    assert runs.freedom < 4  # six runs, three coefficients in N
    assert [note.name for note in runs.notes] == ["few-degrees"]
    assert "6 clusters" in runs.notes[0]


def test_an_interval_of_240_points_takes_well_under_a_second():
    variables = ladder(12, 20)
    fitted = fit(law("chinchilla"), variables, noisy(variables))
    profile(fitted, "alpha")
    begin = time.process_time()
    profile(fitted, optimal_parameters(fitted.law, 1e17))
    assert time.process_time() - begin < 0.5


def test_a_weight_of_two_is_a_point_seen_twice_by_one_measurement():
    """The place of the optimum and the leverage are those of two points, the noise is that of one cluster."""
    variables, loss = ladder(), noisy(ladder())
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weight.astype(int))
    for delta in (1e-3, LEAST_SQUARES):
        weighted = fit(law("chinchilla"), variables, loss, delta=delta, weights=weight)
        repeated = fit(
            law("chinchilla"), {k: v[twice] for k, v in variables.items()}, loss[twice], delta=delta
        )
        one, other = profile(weighted, "alpha"), profile(repeated, "alpha", clusters=twice)
        assert one.value == pytest.approx(other.value, rel=1e-6)
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), rel=0.03)


def test_points_without_weight_do_not_count():
    variables, loss = ladder(), noisy(ladder())
    weight = np.ones(60)
    weight[[3, 17, 40]] = 0.0
    keep = weight > 0
    spoilt = np.where(keep, loss, 10 * loss)
    one = profile(fit(law("chinchilla"), variables, spoilt, weights=weight), "beta")
    other = profile(fit(law("chinchilla"), {k: v[keep] for k, v in variables.items()}, loss[keep]), "beta")
    assert (one.lower, one.upper, one.freedom) == pytest.approx(
        (other.lower, other.upper, other.freedom), rel=1e-4
    )


@pytest.mark.parametrize("penalty", ["log-squares", "squares", "quantile"])
def test_other_penalties_have_intervals_of_about_the_same_width(penalty, result):
    found = fit(law("chinchilla"), ladder(), noisy(ladder()), penalty=penalty)
    robust, other = profile(result, "alpha"), profile(found, "alpha")
    assert other.lower < 0.35 < other.upper
    assert 0.5 < (other.upper - other.lower) / (robust.upper - robust.lower) < 1.5
    low, high = wild(found, 100).coefficient_interval("alpha")
    assert 0.4 < (high - low) / (other.upper - other.lower) < 1.6


def test_squares_of_the_loss_are_squares_of_its_logarithm_with_weights():
    variables, loss = ladder(), noisy(ladder(), sd=1e-4)
    squares = profile(fit(law("chinchilla"), variables, loss, penalty="squares"), "alpha")
    logs = profile(fit(law("chinchilla"), variables, loss, penalty="log-squares", weights=loss**2), "alpha")
    assert (squares.lower, squares.upper) == pytest.approx((logs.lower, logs.upper), rel=1e-4)


def test_groups_have_intervals_of_what_is_theirs_and_of_what_they_share():
    variables = {name: np.tile(column, 2) for name, column in ladder().items()}
    corpus = np.repeat(["a", "b"], 60)
    floor = np.where(corpus == "a", 1.2, 0.8)
    loss = law("chinchilla").predict(variables, **{**TINY, "E": floor})
    loss = loss * np.exp(0.01 * np.random.default_rng(2).normal(size=120))
    found = fit(law("chinchilla"), variables, loss, group=corpus)
    for label, truth in (("a", 1.2), ("b", 0.8)):
        own = profile(found, "E", group=label)
        assert own.lower < truth < own.upper
        assert own.value == found.coefficients[f"E[{label}]"]
        assert profile(found, f"E[{label}]").lower == own.lower
        there = profile(found, {"N": 1e7, "D": 1e9}, group=label)
        assert (
            there.lower
            < law("chinchilla").predict({"N": 1e7, "D": 1e9}, **{**TINY, "E": truth})
            < there.upper
        )
    assert profile(found, "alpha").lower < 0.35 < profile(found, "alpha").upper
    split = profile(found, optimal_parameters(law("chinchilla"), 6e16))
    assert split.lower < split.value < split.upper
    assert wild(found, 20).predict({"N": 1e7, "D": 1e9}, group="a").shape == (20,)
    with pytest.raises(BadInput, match="group is None"):
        profile(found, {"N": 1e7, "D": 1e9})
    with pytest.raises(BadInput, match="group is 'c'"):
        profile(found, "E", group="c")


def test_wild_members_spread_as_wide_as_the_profile(result):
    members = wild(result, 400)
    assert len(members) == 400
    for name in ("E", "alpha", "beta"):
        low, high = members.coefficient_interval(name)
        found = profile(result, name)
        assert 0.6 < (high - low) / (found.upper - found.lower) < 1.5
    assert np.array_equal(wild(result, 5, seed=2).objective, wild(result, 5, seed=2).objective)


@pytest.mark.parametrize(
    ("asked", "options", "sentence"),
    [
        ("gamma", {}, "has no coefficient 'gamma'"),
        ("alpha", {"coverage": 1.0}, r"coverage is 1\.0"),
        ({"N": 1e6}, {}, "missing D"),
        (lambda **c: 1.0, {}, r"returned shape \(\)"),
        ("alpha", {"clusters": ["a", "b"]}, "one label a point"),
        ("alpha", {"clusters": ["a"] * 60}, "All points lie in one cluster"),
    ],
)
def test_bad_questions_raise_one_sentence(result, asked, options, sentence):
    with pytest.raises(BadInput, match=sentence) as caught:
        profile(result, asked, **options)
    assert "\n" not in str(caught.value)


def test_held_coefficients_and_saturated_fits_are_refused():
    variables = ladder()
    held = fit(law("chinchilla"), variables, noisy(variables), fixed={"E": 1.2})
    with pytest.raises(BadInput, match="E was held"):
        profile(held, "E")
    few = {name: column[[0, 9, 25, 50, 59]] for name, column in variables.items()}
    with pytest.raises(BadInput, match="nothing is left to tell the noise"):
        profile(fit(law("chinchilla"), few, noisy(few)), "E")
    with pytest.raises(BadInput, match="n is 0"):
        wild(held, 0)


def test_a_law_without_a_closed_split_is_refused_and_the_others_agree():
    with pytest.raises(BadInput, match="no closed form"):
        optimal_parameters(law("data-constrained"), 1e20)
    for name in ("chinchilla", "generalised", "over-training", "kaplan"):
        each = law(name)
        values = {key: np.array([value]) for key, value in each.defaults.items()}
        best = float(optimal_parameters(each, 1e21)(**values)[0])
        N = best * np.array([0.9, 1.0, 1.1])
        D = 1e21 / 6 / N
        at = {"N": N, "D": D} if "N" in each.variables else {"C": 1e21, "M": D / N}
        assert np.argmin(each.predict(at, **each.defaults)) == 1
