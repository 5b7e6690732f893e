"""Fits of made-up points: known coefficients come back, and notes and sentences say what is wrong."""

import json

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit, objective
from explorer.fitting.descent import descend
from explorer.laws import LAWS, Coefficient, Law, law

TINY = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}


def ladder(widths=6, checkpoints=10):
    N, D = np.meshgrid(np.geomspace(1e4, 1e6, widths), np.geomspace(1e6, 1e8, checkpoints), indexing="ij")
    return {"N": N.ravel(), "D": D.ravel()}


def noisy(variables, sd=0.01, seed=0):
    clean = law("chinchilla").predict(variables, **TINY)
    return clean * np.exp(sd * np.random.default_rng(seed).normal(size=clean.shape))


GRIDS = {
    "chinchilla": (ladder(), TINY),
    "generalised": (
        {name: values * 1e3 for name, values in ladder().items()},
        {"E": 1.0, "A": 1.6e5, "B": 6.3e5, "alpha": 0.53, "beta": 0.51, "gamma": 0.3},
    ),
    "kaplan": (ladder(), {"N_c": 6.4e13, "D_c": 1.8e13, "alpha_N": 0.076, "alpha_D": 0.103}),
    "data-constrained": (
        {
            "N": np.tile(np.geomspace(1e7, 1e10, 5), 16),
            "U": np.repeat([1e8, 1e9, 1e10, 1e11], 20),
            "D": np.repeat(np.outer([1e8, 1e9, 1e10, 1e11], [1, 4, 16, 60]).ravel(), 5),
        },
        {"E": 1.8, "A": 500.0, "B": 1500.0, "alpha": 0.35, "beta": 0.36, "R_D": 15.0, "R_N": 5.0},
    ),
    "over-training": (
        {"C": np.tile(np.geomspace(1e17, 1e21, 6), 5), "M": np.repeat(np.geomspace(5, 640, 5), 6)},
        {"E": 1.5, "a": 141.0, "b": 190.0, "eta": 0.12},
    ),
}


@pytest.mark.parametrize("name", list(LAWS))
def test_known_coefficients_come_back(name):
    variables, truth = GRIDS[name]
    result = fit(law(name), variables, law(name).predict(variables, **truth))
    for key, value in truth.items():
        assert result.coefficients[key] == pytest.approx(value, rel=1e-3), key
    assert result.rms_log_residual < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_fit_is_at_least_as_good_as_the_truth(seed):
    variables = ladder()
    loss = noisy(variables, seed=seed)
    result = fit(law("chinchilla"), variables, loss)
    assert result.objective <= objective(law("chinchilla"), variables, loss, TINY)
    assert result.objective == pytest.approx(
        objective(law("chinchilla"), variables, loss, result.coefficients), rel=1e-9
    )
    assert 0.005 < result.rms_log_residual < 0.015
    assert result.coefficients["alpha"] == pytest.approx(0.35, abs=0.06)


def test_nothing_near_the_optimum_is_lower():
    variables = ladder()
    loss = noisy(variables)
    result = fit(law("chinchilla"), variables, loss)
    random = np.random.default_rng(1)
    for size in (1e-6, 1e-4, 1e-2):
        for _ in range(50):
            moved = {k: v * np.exp(size * random.normal()) for k, v in result.coefficients.items()}
            score = objective(law("chinchilla"), variables, loss, moved)
            assert score >= result.objective * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_no_start_of_the_grid_leads_lower(seed):
    random = np.random.default_rng(seed)
    variables = {"N": 10 ** random.uniform(3, 6, 30), "D": 10 ** random.uniform(5, 8, 30)}
    loss = law("chinchilla").predict(variables, **TINY) * np.exp(0.02 * random.standard_t(3, 30))
    result = fit(law("chinchilla"), variables, loss)
    problem = result._problem
    value = descend(problem, problem.theta(law("chinchilla").starts(variables, loss, {}))).value
    assert result.objective <= value.min() * (1 + 1e-6)


def test_outliers_hardly_move_a_robust_fit():
    variables = ladder()
    loss = law("chinchilla").predict(variables, **TINY)
    loss[[3, 20, 41]] *= 1.5
    robust = fit(law("chinchilla"), variables, loss)
    squared = fit(law("chinchilla"), variables, loss, delta=1e3)
    assert robust.coefficients["alpha"] == pytest.approx(0.35, abs=1e-3)
    assert abs(squared.coefficients["alpha"] - 0.35) > 0.01


def test_objective_is_a_sum_so_points_seen_twice_count_twice():
    variables = ladder()
    loss = noisy(variables)
    once = fit(law("chinchilla"), variables, loss)
    twice = fit(law("chinchilla"), {k: np.tile(v, 2) for k, v in variables.items()}, np.tile(loss, 2))
    assert twice.objective == pytest.approx(2 * once.objective, rel=1e-9)
    assert twice.coefficients == pytest.approx(once.coefficients, rel=1e-4)


def test_many_points_are_started_on_a_part():
    variables = ladder(40, 50)
    result = fit(law("chinchilla"), variables, noisy(variables))
    assert result.coefficients == pytest.approx(TINY, rel=0.15)


def test_no_irreducible_loss_stops_at_the_bound_and_says_so():
    variables = ladder()
    loss = law("chinchilla").predict(variables, **{**TINY, "E": 0.0})
    result = fit(law("chinchilla"), variables, loss)
    assert result.coefficients["E"] < 1e-3
    assert result.coefficients["E"] >= np.exp(-10) * (1 - 1e-12)
    loss = loss - 0.01 * loss.min()  # as if E were below zero
    assert any("E lies at its lower bound" in note for note in fit(law("chinchilla"), variables, loss).notes)


def test_held_and_bounded_coefficients_obey():
    variables = ladder()
    loss = noisy(variables)
    held = fit(law("chinchilla"), variables, loss, fixed={"E": 1.0, "alpha": 0.3})
    assert held.coefficients["E"] == 1.0
    assert held.coefficients["alpha"] == 0.3
    assert held.fixed == {"E": 1.0, "alpha": 0.3}
    bounded = fit(law("chinchilla"), variables, loss, bounds={"alpha": (0.01, 0.2)})
    assert bounded.coefficients["alpha"] == pytest.approx(0.2)
    assert any("alpha lies at its upper bound 0.2" in note for note in bounded.notes)


def test_too_few_levels_are_noted():
    variables = ladder(2)
    notes = fit(law("chinchilla"), variables, noisy(variables)).notes
    assert any(note.startswith("N takes only 2 values") for note in notes)


def test_a_direction_without_information_is_noted():
    variables = ladder()
    variables["N"] = np.full_like(variables["N"], 1e5)
    notes = fit(law("chinchilla"), variables, noisy(variables)).notes
    assert any("do not fix" in note and "alpha" in note for note in notes)


def test_as_many_points_as_coefficients_is_noted():
    variables = {name: column[[0, 9, 25, 50, 59]] for name, column in ladder().items()}
    notes = fit(law("chinchilla"), variables, noisy(variables)).notes
    assert any("as many points as fitted coefficients (5)" in note for note in notes)


def test_a_law_without_starts_or_derivatives_is_fitted():
    line = Law(
        name="power",
        title="A power law",
        variables=("x",),
        coefficients=(
            Coefficient("k", 1.0, 1e-6, 1e6, log=True, usual=(0.01, 100.0)),
            Coefficient("p", 0.5, 0.0, 3.0),
        ),
        function=lambda x, k, p: k * x**-p,
        source="",
        validity="",
    )
    x = np.geomspace(1, 100, 8)
    result = fit(line, {"x": x}, 5 * x**-0.7)
    assert result.coefficients == pytest.approx({"k": 5.0, "p": 0.7}, rel=1e-5)


def test_predict_and_json():
    variables = ladder()
    result = fit(law("chinchilla"), variables, noisy(variables))
    expected = law("chinchilla").predict({"N": 1e7, "D": 1e9}, **result.coefficients)
    assert result.predict({"N": 1e7, "D": 1e9}) == expected
    told = json.loads(json.dumps(result.to_json()))
    assert told["law"] == "chinchilla"
    assert told["coefficients"] == result.coefficients
    assert told["points"] == 60


def with_row(name, value, row=4):
    def change(variables, loss):
        columns = {**variables, "loss": loss}
        columns[name] = columns[name].copy()
        columns[name][row] = value
        return {key: columns[key] for key in variables}, columns["loss"]

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda v, y: ({k: c[:0] for k, c in v.items()}, y[:0]), "The table is empty"),
        (lambda v, y: ({k: c[:1] for k, c in v.items()}, y[:1]), "There are 1 points, but .* 5 coefficients"),
        (lambda v, y: ({k: c[:4] for k, c in v.items()}, y[:4]), "There are 4 points, but .* 5 coefficients"),
        (lambda v, y: ({"N": 1e5, "D": 1e6}, 3.0), "There are 1 points"),
        (lambda v, y: (v, y[:-1]), "There are 59 losses but 60 values of N"),
        (lambda v, y: ({"N": v["N"]}, y), "needs the variables N, D, but was given N .D missing"),
        (lambda v, y: ({**v, "T": y}, y), "T unknown"),
        (lambda v, y: ({**v, "N": v["N"].reshape(6, 10)}, y), r"column N has shape \(6, 10\)"),
        (lambda v, y: ({**v, "N": ["a"] * 60}, y), "column N holds something that is no number"),
        (with_row("loss", np.nan), "Point 5 of 60 has loss = nan, which is not a finite number"),
        (with_row("N", np.inf), "Point 5 of 60 has N = inf, which is not a finite number"),
        (with_row("loss", 0.0), "Point 5 of 60 has loss = 0, which is not above zero"),
        (with_row("loss", -1.0), "Point 5 of 60 has loss = -1, which is not above zero"),
        (with_row("D", 0.0), "Point 5 of 60 has D = 0, which is not above zero"),
        (with_row("N", -3.0), "Point 5 of 60 has N = -3, which is not above zero"),
        (with_row("N", -3.0, slice(4, 7)), r"has N = -3 \(and 2 more\)"),
    ],
)
def test_bad_points_raise_one_sentence(change, sentence):
    variables = ladder()
    with pytest.raises(BadInput, match=sentence) as caught:
        fit(law("chinchilla"), *change(variables, noisy(variables)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fixed": {"gamma": 1.0}}, "fixed names 'gamma', which is no coefficient"),
        ({"fixed": {"A": -1.0}}, "fixed gives A = -1.0: give a finite number above zero"),
        ({"fixed": {"alpha": np.nan}}, "fixed gives alpha = nan"),
        ({"fixed": {"A": "x"}}, "fixed gives A = 'x': give a number"),
        ({"fixed": TINY}, "Every coefficient .* is held"),
        ({"bounds": {"q": (0, 1)}}, "bounds names 'q'"),
        ({"bounds": {"A": (0.0, 1.0)}}, "bounds gives A between 0 and 1: give two numbers above zero"),
        ({"bounds": {"alpha": (1.0, 0.5)}}, "bounds gives alpha between 1 and 0.5"),
        ({"delta": 0.0}, "delta is 0.0"),
        ({"delta": np.nan}, "delta is nan"),
    ],
)
def test_bad_options_raise_one_sentence(options, sentence):
    variables = ladder()
    with pytest.raises(BadInput, match=sentence):
        fit(law("chinchilla"), variables, noisy(variables), **options)


def test_a_law_that_is_finite_nowhere_is_told():
    nowhere = Law("nan", "", ("x",), (Coefficient("k", 1.0, 0.0, 2.0),), lambda x, k: np.nan * x * k, "", "")
    with pytest.raises(BadInput, match="no finite loss"):
        fit(nowhere, {"x": [1.0, 2.0]}, [1.0, 2.0])


def test_points_that_no_such_law_made_get_a_note():
    random = np.random.default_rng(0)
    N, D = (one.ravel() for one in np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6)))
    found = fit(law("chinchilla"), {"N": N, "D": D}, np.exp(random.normal(1, 0.4, N.size)))
    assert any("misses these points by" in note for note in found.notes)
