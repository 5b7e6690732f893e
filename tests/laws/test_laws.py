"""The law objects: the registry, names that are checked, and derivatives that match differences."""

import subprocess
import sys

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.laws import LAWS, Coefficient, Law, law, published

SIZES = {
    "N": np.array([1e7, 3e8, 2e10]),
    "D": np.array([5e8, 2e10, 1e12]),
    "U": np.array([5e8, 1e10, 1e11]),
    "C": np.array([1e18, 1e20, 1e22]),
    "M": np.array([5.0, 20.0, 640.0]),
}


def inputs(each):
    return {name: SIZES[name] for name in each.variables}


def test_registry_names_the_laws():
    assert list(LAWS) == ["chinchilla", "generalised", "kaplan", "data-constrained", "over-training"]
    assert all(law(name).name == name for name in LAWS)
    with pytest.raises(BadInput, match=r"no law called 'chinchila'.*chinchilla, generalised, kaplan"):
        law("chinchila")


@pytest.mark.parametrize("name", list(LAWS))
def test_law_predicts_with_its_defaults(name):
    each = law(name)
    loss = each.predict(inputs(each), **each.defaults)
    assert loss.shape == (3,)
    assert (np.diff(loss) < 0).all()
    for c in each.coefficients:
        assert c.low <= c.slider[0] <= c.default <= c.slider[1] <= c.high, c.name
        assert c.doc and c.label
        assert c.low > 0 or not c.log


@pytest.mark.parametrize("name", [name for name, each in LAWS.items() if each.log_jacobian])
def test_jacobian_matches_differences(name):
    each = law(name)
    jacobian = each.log_jacobian(**inputs(each), **each.defaults)
    assert jacobian.shape == (3, len(each.coefficients))
    for k, c in enumerate(each.coefficients):
        ends = []
        for side in (1, -1):
            moved = dict(each.defaults)
            moved[c.name] = c.default * np.exp(side * 1e-5) if c.log else c.default + side * 1e-5
            ends.append(np.log(each.predict(inputs(each), **moved)))
        np.testing.assert_allclose(jacobian[:, k], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    ("variables", "coefficients", "sentence"),
    [
        ({"N": 1e9}, {}, "was given the variables N .*missing D.*give exactly N, D"),
        ({"N": 1e9, "D": 1e9, "T": 1}, {}, "unknown T"),
        ({"N": 1e9, "D": 1e9}, {"A": None}, "missing A"),
        ({"N": 1e9, "D": 1e9}, {"gamma": 1.0}, "unknown gamma"),
        ({"N": "big", "D": 1e9}, {}, "'big' for N: give a number"),
        ({"N": [1e9, 1e8], "D": [1e9, 1e8, 1e7]}, {}, r"N \(2,\), D \(3,\), which do not broadcast"),
    ],
)
def test_predict_says_what_is_wrong(variables, coefficients, sentence):
    each = law("chinchilla")
    given = {k: v for k, v in {**each.defaults, **coefficients}.items() if v is not None}
    with pytest.raises(BadInput, match=sentence):
        each.predict(variables, **given)


def test_coefficient_without_usual_range_offers_all_of_it():
    assert Coefficient("x", 1.0, 0.0, 2.0).slider == (0.0, 2.0)


def test_a_law_is_a_function_with_names():
    line = Law("line", "A line", ("x",), (Coefficient("m", 2.0, 0.0, 9.0),), lambda x, m: m * x, "-", "-")
    assert line.predict({"x": [1, 2]}, m=3).tolist() == [3.0, 6.0]


def test_published_constants_fit_their_laws():
    for table, name in (
        (published.CHINCHILLA, "chinchilla"),
        (published.GENERALISED, "generalised"),
        (published.DATA_CONSTRAINED, "data-constrained"),
        (published.OVERTRAINING, "over-training"),
    ):
        for constants in table.values():
            assert set(constants.coefficients) == set(law(name).names)
            assert constants.paper and constants.arxiv
    assert set(published.KAPLAN["joint"].coefficients) == set(law("kaplan").names)


def test_every_published_exponent_falls_to_hoffmann():
    for steps in published.PORIAN_EXPONENTS.values():
        values = [step.a for step in steps.values()]
        assert values == sorted(values, reverse=True)
        assert abs(values[-1] - 0.5) < 0.02
    for each in published.HOFFMANN_EXPONENTS.values():
        assert each.a + each.b == pytest.approx(1.0)


def test_known_models():
    chinchilla = published.MODELS["chinchilla"]
    assert (chinchilla.N, chinchilla.D) == (70e9, 1.4e12)
    assert all(model.N > 1e9 and model.D > 1e11 and model.arxiv for model in published.MODELS.values())


def test_import_needs_only_numpy():
    code = (
        "import sys, explorer.laws, explorer.fitting; print('scipy' in sys.modules, 'pandas' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]
