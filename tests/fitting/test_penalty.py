"""Penalties: slopes and curvatures are derivatives, bounds lie above, names and objects both work."""

import numpy as np
import pytest
from scipy.optimize import least_squares, linprog

from explorer.errors import BadInput
from explorer.fitting import Huber, LogSquares, Quantile, Squares, fit, objective
from explorer.laws import Coefficient, Law, law

TRUTH = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}
EACH = [Huber(1e-2), LogSquares(), Squares(), Quantile(0.5, 1e-2), Quantile(0.9, 1e-2)]
# Residuals on both sides of every kink, none on one.
R = np.array([-0.5, -0.03, -0.012, -0.008, -0.001, 0.0, 0.002, 0.009, 0.011, 0.04, 0.6])
LOSS = np.full_like(R, 2.5)


def points(seed=0, n=60):
    random = np.random.default_rng(seed)
    variables = {"N": 10 ** random.uniform(3, 6, n), "D": 10 ** random.uniform(5, 8, n)}
    clean = law("chinchilla").predict(variables, **TRUTH)
    return variables, clean * np.exp(0.02 * random.standard_t(4, n))


@pytest.mark.parametrize("penalty", EACH, ids=repr)
def test_slope_and_curvature_are_derivatives(penalty):
    h = 1e-6
    above, below = (penalty.value(R + s, LOSS) for s in (h, -h))
    assert penalty.slope(R, LOSS) == pytest.approx((above - below) / (2 * h), rel=1e-6, abs=1e-9)
    above, below = (penalty.slope(R + s, LOSS) for s in (h, -h))
    assert penalty.curvature(R, LOSS) == pytest.approx((above - below) / (2 * h), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("penalty", EACH, ids=repr)
def test_the_touching_parabola_lies_above(penalty):
    bound = penalty.bound(R, LOSS)
    assert (bound > 0).all()
    if not isinstance(penalty, Squares):  # a bound of least squares of L holds nearby only
        step = np.linspace(-0.7, 0.7, 141)[:, None]
        parabola = penalty.value(R, LOSS) + penalty.slope(R, LOSS) * step + 0.5 * bound * step**2
        assert (penalty.value(R + step, LOSS) <= parabola + 1e-12).all()


def test_smoothing_raises_the_pinball_by_a_quarter_of_its_width_at_most():
    r = np.linspace(-3e-4, 3e-4, 1001)
    u = -r  # measured minus predicted
    exact = np.maximum(0.8 * u, -0.2 * u)
    smooth = Quantile(0.8, 1e-4).value(r, np.ones_like(r))
    assert (smooth >= exact - 1e-18).all()
    assert np.max(smooth - exact) == pytest.approx(0.25e-4)
    assert smooth[[0, -1]] == pytest.approx(exact[[0, -1]])


def test_log_squares_and_squares_are_what_scipy_finds():
    variables, loss = points()
    for name, miss in (
        ("log-squares", lambda c: np.log(law("chinchilla").predict(variables, **c) / loss)),
        ("squares", lambda c: law("chinchilla").predict(variables, **c) - loss),
    ):
        result = fit(law("chinchilla"), variables, loss, penalty=name)

        def residual(x, miss=miss):
            return miss({**dict(zip("EAB", np.exp(x[:3]), strict=True)), "alpha": x[3], "beta": x[4]})

        start = [np.log(result.coefficients[k]) for k in "EAB"]
        start += [result.coefficients["alpha"], result.coefficients["beta"]]
        found = least_squares(residual, np.array(start) + 0.05, xtol=1e-14, ftol=1e-14, gtol=1e-14)
        assert result.objective == pytest.approx(found.cost, rel=1e-9)
        assert result.penalty.name == name


def test_a_quantile_has_its_share_of_points_below():
    variables, loss = points(n=200)
    for q in (0.1, 0.5, 0.9):
        result = fit(law("chinchilla"), variables, loss, penalty=Quantile(q))
        below = np.mean(loss < result.predict(variables))
        assert below == pytest.approx(q, abs=0.03)
    same = fit(law("chinchilla"), variables, loss, penalty="quantile")
    assert same.penalty == Quantile(0.5)


def test_the_median_of_a_line_is_that_of_linear_programming():
    """ln L = ln k - p ln x is straight in ln x, so least absolute deviations is a linear programme."""
    line = Law(
        name="power",
        title="",
        variables=("x",),
        coefficients=(Coefficient("k", 1.0, 1e-6, 1e6, True), Coefficient("p", 0.5, -3.0, 3.0)),
        function=lambda x, k, p: k * x**-p,
        source="",
        validity="",
    )
    random = np.random.default_rng(0)
    x = np.geomspace(1, 1e4, 40)
    loss = 5 * x**-0.3 * np.exp(0.05 * random.standard_t(2, 40))
    design = np.column_stack([np.ones(40), -np.log(x)])
    ones = np.eye(40)
    found = linprog(
        np.r_[0, 0, np.full(80, 0.5)],
        A_eq=np.hstack([design, ones, -ones]),
        b_eq=np.log(loss),
        bounds=[(None, None)] * 2 + [(0, None)] * 80,
    )
    result = fit(line, {"x": x}, loss, penalty=Quantile(0.5, 1e-7))
    assert result.objective == pytest.approx(found.fun, rel=1e-5)


def test_objective_tells_what_fit_minimised():
    variables, loss = points()
    for penalty in EACH:
        result = fit(law("chinchilla"), variables, loss, penalty=penalty)
        told = objective(law("chinchilla"), variables, loss, result.coefficients, penalty=penalty)
        assert told == pytest.approx(result.objective, rel=1e-9)


def test_resamples_keep_the_penalty():
    variables, loss = points()
    low, high = (
        fit(law("chinchilla"), variables, loss, penalty=Quantile(q))
        .resample(30)
        .predict({"N": 1e5, "D": 1e7})
        for q in (0.1, 0.9)
    )
    assert np.median(high) > np.median(low) * 1.02


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: Huber(0.0), "delta is 0.0: give a finite number above zero"),
        (lambda: Huber(np.nan), "delta is nan"),
        (lambda: Quantile(1.0), "q is 1.0: give a quantile between 0 and 1"),
        (lambda: Quantile(np.nan), "q is nan"),
        (lambda: Quantile(0.5, -1.0), "width is -1.0"),
        (
            lambda: fit(law("chinchilla"), *points(), penalty="cauchy"),
            "penalty is 'cauchy': choose from huber",
        ),
    ],
)
def test_bad_penalties_raise_one_sentence(given, sentence):
    with pytest.raises(BadInput, match=sentence):
        given()
