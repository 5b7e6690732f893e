"""The derivatives of typed formulas, against differences at fifty digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from explorer.laws import law
from explorer.laws.derivative import derivative
from explorer.laws.formula import Formula
from explorer.laws.tree import Binary, Call, Name, Number, Unary

NAMES = ("N", "D", "a", "b", "c")


class Corner(Exception):
    """Two sides of a min or max are equal, or there is no real value."""


def exactly(tree, at):
    """The value of a tree at fifty digits, by another road than the program's."""
    match tree:
        case Number(value):
            return mpmath.mpf(value)
        case Name(name):
            return at[name]
        case Unary(operand):
            return -exactly(operand, at)
        case Binary(operator, left, right):
            x, y = exactly(left, at), exactly(right, at)
            if (operator == "/" and y == 0) or (operator == "^" and x <= 0):
                raise Corner
            return {
                "+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y, "^": lambda: x**y
            }[operator]()  # fmt: skip
        case Call(function, arguments):
            values = [exactly(each, at) for each in arguments]
            if function == "choose":
                return values[2] if values[0] <= values[1] else values[3]
            if function in ("min", "max"):
                if len(set(values)) < len(values):
                    raise Corner
                return {"min": min, "max": max}[function](values)
            if values[0] == 0 and function == "abs":
                raise Corner
            if values[0] <= 0 and function in ("log", "log10", "log2", "sqrt"):
                raise Corner
            return {
                "exp": mpmath.exp, "log": mpmath.log, "log10": mpmath.log10, "sqrt": mpmath.sqrt,
                "log2": lambda x: mpmath.log(x, 2), "abs": abs, "tanh": mpmath.tanh,
            }[function](values[0])  # fmt: skip


def moved(tree, at, name):
    """The tree as a function of one of its names."""
    return lambda x: exactly(tree, {**at, name: x})


def grown(inner):
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    functions = ["exp", "log", "log10", "log2", "sqrt", "abs", "tanh"]
    return st.one_of(
        inner.map(Unary),
        st.builds(Binary, st.sampled_from("+-*/^"), inner, inner),
        st.builds(Call, st.sampled_from(functions), st.tuples(inner)),
        st.builds(Call, st.sampled_from(["min", "max"]), several),
    )


leaf = st.one_of(st.floats(0.25, 4).map(Number), st.sampled_from(NAMES).map(Name))
trees = st.recursive(leaf, grown, max_leaves=9)
points = st.fixed_dictionaries({name: st.floats(0.3, 3) for name in NAMES})


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees, points, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_derivatives_are_exact(tree, point, name, other):
    with mpmath.workdps(60):
        at = {key: mpmath.mpf(value) for key, value in point.items()}

        try:
            size = 1 + abs(exactly(tree, at))
            assume(size < 1e12)
            slope = derivative(tree, name)
            for each, along, value in ((tree, name, slope), (slope, other, derivative(slope, other))):
                expected, found = mpmath.diff(moved(each, at, along), at[along]), exactly(value, at)
                assume(abs(expected) < 1e12)
                assert abs(found - expected) < mpmath.mpf("1e-15") * (size + abs(expected))
        except (Corner, OverflowError):
            assume(False)


LAWS = {
    "E + A/N^alpha + B/D^beta": {"E": 1.8, "A": 480.0, "alpha": 0.35, "B": 2100.0, "beta": 0.37},
    "E + (A/N^a + B/D^b)^g": {"E": 1.0, "A": 1.6e5, "a": 0.53, "B": 6.3e5, "b": 0.51, "g": 0.3},
    "((N_c/N)^(a/b) + D_c/D)^b": {"N_c": 6.4e13, "D_c": 1.8e13, "a": 0.076, "b": 0.103},
    "exp(a - b*log(N)) + exp(e)": {"a": 6.0, "b": 0.3, "e": 0.5},
    "M - M/(1 + exp(-k*(log(N) - m)))": {"M": 4.0, "k": 0.4, "m": 20.0},
    "max(E, A/N^a) + tanh(c/D^b)": {"E": 2.0, "A": 480.0, "a": 0.3, "c": 30.0, "b": 0.1},
}


@pytest.mark.parametrize("text", LAWS)
def test_float_derivatives_of_laws(text):
    formula = Formula(text, ["N", "D"])
    inputs = {"N": np.geomspace(1e6, 1e11, 7), "D": np.geomspace(1e9, 1e12, 7)}
    inputs = {name: inputs[name] for name in formula.variables}
    gradient, hessian = formula.gradient(**inputs, **LAWS[text]), formula.hessian(**inputs, **LAWS[text])
    each = formula.law()
    logs = each.log_jacobian(**inputs, **LAWS[text])
    count = len(formula.coefficients)
    assert gradient.shape == logs.shape == (7, count)
    assert hessian.shape == (7, count, count)
    with mpmath.workdps(50):
        for row in range(7):
            at = {k: mpmath.mpf(float(v[row])) for k, v in inputs.items()}
            at |= {k: mpmath.mpf(v) for k, v in LAWS[text].items()}
            loss = exactly(formula.tree, at)
            for k, one in enumerate(each.coefficients):
                slope = derivative(formula.tree, one.name)
                expected = exactly(slope, at)
                np.testing.assert_allclose(gradient[row, k], float(expected), rtol=1e-11)
                scale = at[one.name] if one.log else 1
                np.testing.assert_allclose(logs[row, k], float(scale * expected / loss), rtol=1e-11)
                differences = mpmath.diff(moved(formula.tree, at, one.name), at[one.name])
                np.testing.assert_allclose(gradient[row, k], float(differences), rtol=1e-9)
                for j, other in enumerate(formula.coefficients):
                    expected = float(exactly(derivative(slope, other), at))
                    np.testing.assert_allclose(hessian[row, k, j], expected, rtol=1e-9, atol=1e-300)


def test_typed_chinchilla_has_the_built_in_derivatives():
    typed, built_in = Formula("E + A/N^alpha + B/D^beta", ["N", "D"]).law(), law("chinchilla")
    random = np.random.default_rng(0)
    coefficients = {
        c.name: random.uniform(*np.log(c.slider), (40, 1)) if c.log else random.uniform(*c.slider, (40, 1))
        for c in built_in.coefficients
    }
    coefficients |= {c.name: np.exp(coefficients[c.name]) for c in built_in.coefficients if c.log}
    inputs = {"N": np.geomspace(1e6, 1e11, 9), "D": np.geomspace(1e8, 1e12, 9), **coefficients}
    order = [typed.names.index(name) for name in built_in.names]
    np.testing.assert_allclose(
        typed.log_jacobian(**inputs)[..., order], built_in.log_jacobian(**inputs), rtol=1e-12
    )


def test_zero_and_cancelling_parts_are_left_out():
    formula = Formula("E + A/N^alpha", ["N"])
    slopes = {name: derivative(formula.tree, name) for name in formula.coefficients}
    assert slopes["E"] == Number(1.0)
    assert slopes["A"] == Binary("/", Number(1.0), Binary("^", Name("N"), Name("alpha")))
    assert derivative(formula.tree, "x") == Number(0.0)
