"""Laws compared: hold-outs are scored with what was fitted below them, criteria match their formulas."""

import json

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.fitting.compare import compare, log_likelihood
from explorer.laws import law

TINY = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}


def ladder():
    N, D = np.meshgrid(np.geomspace(1e4, 1e6, 6), np.geomspace(1e6, 1e8, 6), indexing="ij")
    return {"N": N.ravel(), "D": D.ravel()}


def measured(sd=0.003):
    clean = law("chinchilla").predict(ladder(), **TINY)
    return clean * np.exp(sd * np.random.default_rng(1).normal(size=36))


@pytest.fixture(scope="module")
def contest():
    return compare([law("kaplan"), law("chinchilla")], ladder(), measured(), hold_out=2)


def test_the_law_that_made_the_points_wins(contest):
    assert [score.name for score in contest.scores] == ["chinchilla", "kaplan"]
    right, wrong = contest.scores
    assert right.held_out.rms < 0.01 < 0.02 < wrong.held_out.rms
    assert right.aic < wrong.aic
    assert right.bic < wrong.bic
    assert right.left_out_rms < wrong.left_out_rms
    assert "chinchilla is closest" in contest.sentences[0]
    assert "chinchilla is better there too" in contest.sentences[1]
    json.dumps(contest.to_json())


def test_the_hold_out_is_the_largest_budgets_and_was_not_fitted(contest):
    variables, loss = ladder(), measured()
    C = 6 * variables["N"] * variables["D"]
    held = contest.held_out
    below = np.setdiff1d(np.arange(36), held)
    assert C[held].min() > C[below].max()
    assert contest.reach == pytest.approx(C.max() / C[below].max())
    found = fit(law("chinchilla"), {name: column[below] for name, column in variables.items()}, loss[below])
    missed = np.log(found.predict({name: column[held] for name, column in variables.items()}) / loss[held])
    score = contest.score("chinchilla")
    assert score.held_out_residual == pytest.approx(missed)
    assert score.held_out.rms == pytest.approx(np.sqrt(np.mean(missed**2)))
    assert score.held_out.bias == pytest.approx(np.mean(missed))
    assert score.held_out.points == len(held)


def test_every_budget_is_left_out_once(contest):
    score = contest.score("chinchilla")
    assert len(score.left_out) == len(contest.budgets) == contest.budget.max() + 1
    assert sum(miss.points for miss in score.left_out) == 36
    code = 3
    rows = contest.budget != code
    found = fit(
        law("chinchilla"), {name: column[rows] for name, column in ladder().items()}, measured()[rows]
    )
    missed = np.log(found.predict({name: c[~rows] for name, c in ladder().items()}) / measured()[~rows])
    assert score.left_out[code].rms == pytest.approx(np.sqrt(np.mean(missed**2)))
    assert (np.diff(contest.budgets) > 0).all()


def test_residuals_are_those_of_the_fit_to_all_points(contest):
    score = contest.score("chinchilla")
    assert score.residual == pytest.approx(np.log(score.fit.predict(ladder()) / measured()))
    assert score.fit.objective == fit(law("chinchilla"), ladder(), measured()).objective


def test_likelihood_is_that_of_gauss_and_of_laplace():
    residual = 0.01 * np.random.default_rng(0).normal(size=500)
    gauss = -250 * np.log(2 * np.pi * np.mean(residual**2)) - 250
    laplace = -500 * np.log(2 * np.mean(np.abs(residual))) - 500
    assert log_likelihood(residual, 1e3) == pytest.approx(gauss, abs=1e-3)
    assert log_likelihood(residual, 1e-7) == pytest.approx(laplace, abs=1e-2)
    assert log_likelihood(residual, 0.01) == pytest.approx(gauss, abs=15)
    from scipy.integrate import quad

    # The density that is maximised is one: its integral is 1 at any scale.
    delta, s = 0.7, 0.4

    def density(r):
        size = abs(r)
        return np.exp(-(0.5 * size**2 if size <= delta else delta * (size - 0.5 * delta)) / s)

    total = 2 * (quad(density, 0, delta)[0] + quad(density, delta, np.inf)[0])
    from math import erf, exp, pi, sqrt

    assert total == pytest.approx(
        sqrt(2 * pi * s) * erf(delta / sqrt(2 * s)) + 2 * s / delta * exp(-(delta**2) / 2 / s)
    )


def test_criteria_count_the_coefficients(contest):
    score = contest.score("chinchilla")
    twice = 2 * log_likelihood(score.residual, 1e-3)
    assert score.aic == pytest.approx(12 - twice)
    assert score.aicc == pytest.approx(12 + 2 * 6 * 7 / (36 - 7) - twice)
    assert score.bic == pytest.approx(6 * np.log(36) - twice)
    held = compare([law("chinchilla")], ladder(), measured(), fixed={"chinchilla": {"E": 1.2}})
    assert held.scores[0].aic + 2 * log_likelihood(held.scores[0].residual, 1e-3) == pytest.approx(10)


def test_one_law_may_enter_twice_and_laws_in_other_variables_too():
    entered = {"free": law("chinchilla"), "held": law("chinchilla"), "over-training": law("over-training")}
    found = compare(entered, ladder(), measured(), fixed={"held": {"alpha": 0.35}})
    assert {score.name for score in found.scores} == set(entered)
    assert found.score("held").fit.fixed == {"alpha": 0.35}
    assert np.isfinite(found.score("over-training").left_out_rms)


def test_equal_laws_are_not_told_apart():
    found = compare(
        {"one": law("chinchilla"), "other": law("generalised")},
        ladder(),
        measured(sd=0.01),
        fixed={"other": {"gamma": 1.0}},
    )
    assert "which is the better law is open" in found.sentences[1]


def test_budgets_may_be_given_as_labels():
    labels = np.repeat(["a", "c", "b"], 12)  # in the order of N here, so of the median compute
    found = compare([law("chinchilla")], ladder(), measured(), budget=labels)
    assert len(compare([law("chinchilla")], ladder(), measured()).held_out) == 6  # a tenth, whole budgets
    assert found.budget.tolist() == [0] * 12 + [1] * 12 + [2] * 12
    assert found.held_out.tolist() == list(range(24, 36))


def test_the_chinchilla_points_prefer_no_law_for_certain(table):
    columns = table("chinchilla_epoch/chinchilla_245.csv")
    variables = {"N": columns["params"][5:], "D": columns["tokens"][5:]}
    found = compare(
        [law("chinchilla"), law("over-training"), law("kaplan")], variables, columns["loss"][5:], hold_out=2
    )
    assert found.score("chinchilla").held_out.rms < 0.015
    assert found.score("kaplan").held_out.rms > 1.5 * found.score("chinchilla").held_out.rms
    assert found.scores[-1].name == "kaplan"
    assert found.reach > 30


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"laws": []}, "No law was given"),
        ({"hold_out": 0}, "hold_out is 0 of 11 budgets"),
        ({"hold_out": 10}, "leave at least 2 to fit"),
        ({"laws": [law("data-constrained")]}, "needs U too"),
        ({"variables": {"N": ladder()["N"]}}, "give C, or N and D"),
        ({"budget": [1.0]}, "one label a point"),
    ],
)
def test_bad_comparisons_raise_one_sentence(change, sentence):
    given = {"laws": [law("chinchilla")], "variables": ladder(), "loss": measured(), **change}
    with pytest.raises(BadInput, match=sentence):
        compare(given.pop("laws"), given.pop("variables"), given.pop("loss"), **given)
