"""The search for the lowest minimum: many starts lead no lower, its certificate counts, a usual recipe falls short."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize

from explorer.fitting import fit
from explorer.fitting.bootstrap import draw_counts
from explorer.fitting.descent import descend
from explorer.fitting.hop import jump, spread_at
from explorer.laws import LAWS, law

TRUTH = {"E": 1.7, "A": 400.0, "B": 1500.0, "alpha": 0.34, "beta": 0.36}


def isoflop(n=240, seed=0, tail=4):
    """A table like that of Hoffmann et al. 2022: budgets, and sizes around the best one, with heavy tails."""
    random = np.random.default_rng(seed)
    C = 10 ** random.uniform(18.5, 22, n)
    N = np.sqrt(C / 120) * 10 ** random.uniform(-0.7, 0.7, n)
    variables = {"N": N, "D": C / 6 / N}
    clean = law("chinchilla").predict(variables, **TRUTH)
    return variables, clean * np.exp(0.005 * random.standard_t(tail, n))


@pytest.fixture(scope="module")
def result():
    return fit(law("chinchilla"), *isoflop())


def scattered(problem, best, random, count):
    """Starts from everywhere: all of the law's own, and jumps short and long."""
    starts = problem.theta(problem.law.starts(problem.variables, problem.loss, {}))
    starts = starts[np.argsort(problem.objective(starts))[:: max(1, len(starts) // count)]]
    width = np.resize([0.5, 1.0, 2.0, 4.0], count)
    around = jump(problem, np.tile(best, (count, 1)), spread_at(problem, best), width, random)
    return np.concatenate([starts, around])


@pytest.mark.parametrize("n", [10, 16, 30, 60])
@pytest.mark.parametrize("name", list(LAWS))
def test_many_more_starts_lead_no_lower(name, n):
    random = np.random.default_rng(n)
    each = law(name)
    if each.variables == ("C", "M"):
        variables = {"C": 10 ** random.uniform(17, 21, n), "M": 10 ** random.uniform(0.7, 2.8, n)}
    else:
        variables = {"N": 10 ** random.uniform(6, 9, n), "D": 10 ** random.uniform(8, 11, n)}
        if "U" in each.variables:
            variables["U"] = variables["D"] / 10 ** random.uniform(0, 1.5, n)
    loss = each.predict(variables, **each.defaults) * np.exp(0.01 * random.standard_t(3, n))
    found = fit(each, variables, loss)
    starts = scattered(found._problem, found._minima[0], random, 40 if each.log_jacobian else 8)
    reached = descend(found._problem, starts, steps=100).value.min()
    assert found.objective <= reached * (1 + 1e-6) + 1e-18


def test_the_certificate_counts_the_ends(result):
    told = result.certificate
    assert told.settled
    assert 4 <= told.reached <= told.starts
    assert told.next is None
    assert str(told).startswith(f"{told.reached} of {told.starts} starts reached the optimum")
    assert str(told).endswith("no other minimum was found.")
    assert json.loads(json.dumps(result.to_json()))["certificate"]["reached"] == told.reached


def test_the_certificate_tells_of_other_minima():
    """Losses of no such law have many minima: few starts agree, jumps follow, and the next one is near."""
    random = np.random.default_rng(0)
    variables = {"N": 10 ** random.uniform(6, 9, 40), "D": 10 ** random.uniform(8, 11, 40)}
    told = fit(law("chinchilla"), variables, np.exp(random.normal(1, 0.4, 40))).certificate
    assert told.jumps > 0
    assert told.next is not None
    assert 1e-6 < told.next < 1
    assert "the next minimum found is higher by" in str(told)


def test_a_large_table_is_fitted_on_all_its_points():
    variables, loss = isoflop(5000)
    whole = fit(law("chinchilla"), variables, loss)
    around = jump(
        whole._problem,
        np.tile(whole._minima[:1], (3, 1)),
        spread_at(whole._problem, whole._minima[0]),
        np.ones(3),
        np.random.default_rng(0),
    )
    assert descend(whole._problem, around).value == pytest.approx(np.full(3, whole.objective), rel=1e-9)
    assert whole.certificate.reached >= 4


def test_the_fit_does_not_depend_on_the_order_or_the_units_of_the_points():
    variables, loss = isoflop(80, seed=3)
    plain = fit(law("chinchilla"), variables, loss)
    order = np.random.default_rng(1).permutation(80)
    shuffled = fit(law("chinchilla"), {k: v[order] for k, v in variables.items()}, loss[order])
    scaled = fit(law("chinchilla"), {"N": variables["N"] / 1e6, "D": variables["D"] / 1e9}, loss)
    for other in (shuffled, scaled):
        assert other.objective == pytest.approx(plain.objective, rel=1e-9)
    assert scaled.coefficients["alpha"] == pytest.approx(plain.coefficients["alpha"], rel=1e-5)


def test_a_mean_stops_a_usual_solver_where_the_sum_does_not(result):
    """The objective averaged over the points is so flat that BFGS meets its tolerance far from the optimum."""
    problem = result._problem

    def usual(start, divisor):
        def value(theta):
            residual = problem.residual(theta[None])
            pull = problem.penalty.slope(residual, problem.loss)
            slope = (pull[:, None] @ problem.jacobian(theta[None]))[0, 0]
            return problem.cost(residual)[0] / divisor, slope / divisor

        return minimize(value, start, jac=True, method="BFGS").fun * divisor

    for start in ([0.0, 5.0, 5.0, 0.5, 0.5], [0.5, 10.0, 10.0, 0.5, 0.5], [1.0, 5.0, 10.0, 0.5, 0.5]):
        assert usual(np.array(start), 1) == pytest.approx(result.objective, rel=1e-3)
        assert usual(np.array(start), len(problem)) > 1.2 * result.objective


def test_no_resample_is_left_in_a_worse_minimum(result):
    """A part of 400 resamples beside many starts each, from everywhere."""
    ensemble = result.resample(400, seed=5)
    assert ensemble.looks >= 2
    assert ensemble.lowered <= 5e-4
    problem = result._problem
    counts = draw_counts(np.arange(240), np.zeros(240, int), 400, np.random.default_rng(5))
    random = np.random.default_rng(9)
    chosen = random.choice(400, 25, replace=False)
    starts = scattered(problem, result._minima[0], random, 20)
    many = np.repeat(counts[chosen], len(starts), axis=0)
    reached = descend(problem, np.tile(starts, (25, 1)), many, steps=100).value.reshape(25, -1).min(axis=1)
    assert (ensemble.objective[chosen] <= reached * (1 + 1e-6)).all()
