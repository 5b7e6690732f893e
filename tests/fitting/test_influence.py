"""Which points a fit rests on: leaving one out in one step agrees with fitting again, sets of points are found."""

import json

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.fitting.influence import influence
from explorer.fitting.target import optimal_parameters
from explorer.laws import law

TINY = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}


def ladder():
    N, D = np.meshgrid(np.geomspace(1e4, 1e6, 6), np.geomspace(1e6, 1e8, 10), indexing="ij")
    variables = {"N": N.ravel(), "D": D.ravel()}
    noise = np.exp(0.01 * np.random.default_rng(0).normal(size=60))
    return variables, law("chinchilla").predict(variables, **TINY) * noise


def without(variables, loss, rows):
    keep = ~np.isin(np.arange(len(loss)), rows)
    return {name: column[keep] for name, column in variables.items()}, loss[keep]


def test_one_step_is_what_leaving_a_point_out_does_to_least_squares():
    variables, loss = ladder()
    result = fit(law("chinchilla"), variables, loss, delta=1e3)
    found = influence(result)
    for row in found.largest(5):
        again = fit(law("chinchilla"), *without(variables, loss, [row]), delta=1e3)
        move = again._minima[0] - result._minima[0]
        assert found.moves[row] == pytest.approx(move, rel=0.15, abs=0.02 * np.abs(move).max())
        assert found.without([row]) == pytest.approx(again.coefficients, rel=1e-5)
        left_out = np.log(loss[row] / again.predict({name: v[row] for name, v in variables.items()}))
        assert found.residual[row] == pytest.approx(left_out, rel=0.05)


def test_leverages_sum_to_the_number_of_coefficients():
    found = influence(fit(law("chinchilla"), *ladder()))
    assert found.leverage.sum() == pytest.approx(5)
    assert ((found.leverage > 0) & (found.leverage < 1)).all()
    assert found.names == ("E", "A", "B", "alpha", "beta")


def test_a_robust_fit_without_some_points_ends_where_a_new_fit_ends():
    variables, loss = ladder()
    found = influence(fit(law("chinchilla"), variables, loss))
    for row in found.largest(3):
        again = fit(law("chinchilla"), *without(variables, loss, [row]))
        assert found.without([row]) == pytest.approx(again.coefficients, rel=1e-3)


def test_points_that_were_shifted_are_found_and_described():
    variables, loss = ladder()
    shifted = variables["D"] < 1.1e6  # the smallest D of every N
    found = influence(fit(law("chinchilla"), variables, np.where(shifted, loss * 1.1, loss)))
    movers = found.movers("beta", 6)
    assert set(movers.rows) == set(np.flatnonzero(shifted))
    assert "(the 6 smallest D)" in movers.sentence
    assert abs(movers.without - 0.4) < abs(movers.value - 0.4)
    json.dumps(movers.to_json())


def test_the_five_under_trained_chinchilla_points_are_found(table):
    columns = table("chinchilla_epoch/chinchilla_245.csv")
    variables = {"N": columns["params"], "D": columns["tokens"]}
    result = fit(law("chinchilla"), variables, columns["loss"])
    found = influence(result)
    assert found.largest(1)[0] == 0
    for name in ("B", "beta"):
        movers = found.movers(name, 5)
        assert sorted(movers.rows) == [0, 1, 2, 3, 4]
        assert "the 5 smallest D/N" in movers.sentence
    # Verified by the fit without them: the replication's optimum.
    assert movers.value == pytest.approx(0.453049, rel=1e-5)
    assert movers.without == pytest.approx(0.367172, rel=1e-4)
    assert movers.coefficients["B"] == pytest.approx(2143.42, rel=1e-3)
    # The most influential point by itself, too, against a fit of its own.
    again = fit(law("chinchilla"), *without(variables, columns["loss"], [0]))
    assert found.without([0]) == pytest.approx(again.coefficients, rel=1e-3)
    assert found.moves[0, 2] == pytest.approx(
        np.log(again.coefficients["B"] / result.coefficients["B"]), rel=0.25
    )
    assert found.movers(optimal_parameters(result.law, 5.76e23), 5).without < 0.7 * 1.19e11


def test_bad_questions_raise_one_sentence():
    found = influence(fit(law("chinchilla"), *ladder()))
    with pytest.raises(BadInput, match="There is no point 60"):
        found.without([60])
    with pytest.raises(BadInput, match="leave out fewer"):
        found.without(range(56))
    with pytest.raises(BadInput, match="one number at a time"):
        found.movers({"N": [1e5, 1e6], "D": 1e7})
