"""Weights, and groups of points that share exponents and have constants of their own."""

import json

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.laws import law

SHARED = {"A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}
FLOORS = {"c4": 1.2, "pile": 0.8, "code": 0.4}


def corpora(noise=0.0, n=20, seed=0):
    """Points of three corpora that differ in E alone: variables, losses, labels."""
    random = np.random.default_rng(seed)
    corpus = np.repeat(list(FLOORS), n)
    variables = {"N": 10 ** random.uniform(3, 6, 3 * n), "D": 10 ** random.uniform(5, 8, 3 * n)}
    floor = np.array([FLOORS[label] for label in corpus])
    clean = law("chinchilla").predict(variables, E=floor, **SHARED)
    return variables, clean * np.exp(noise * random.normal(size=3 * n)), corpus


def one_corpus(noise=0.01):
    variables, loss, corpus = corpora(noise)
    rows = corpus == "c4"
    return {name: column[rows] for name, column in variables.items()}, loss[rows]


def test_every_group_gets_its_own_floor_and_shares_the_rest():
    variables, loss, corpus = corpora()
    result = fit(law("chinchilla"), variables, loss, group=corpus)
    for name, value in SHARED.items():
        assert result.coefficients[name] == pytest.approx(value, rel=1e-4), name
    for label, value in FLOORS.items():
        assert result.coefficients[f"E[{label}]"] == pytest.approx(value, rel=1e-4)
        assert result.of_group(label)["E"] == result.coefficients[f"E[{label}]"]
        rows = corpus == label
        part = {name: column[rows] for name, column in variables.items()}
        assert result.predict(part, group=label) == pytest.approx(loss[rows], rel=1e-6)
    assert result.groups == tuple(FLOORS)
    assert result.own == ("E",)
    assert json.loads(json.dumps(result.to_json()))["groups"] == list(FLOORS)


def test_everything_own_is_every_group_fitted_alone():
    variables, loss, corpus = corpora(0.01)
    together = fit(law("chinchilla"), variables, loss, group=corpus, own=law("chinchilla").names)
    alone = 0.0
    for label in FLOORS:
        rows = corpus == label
        each = fit(law("chinchilla"), {k: v[rows] for k, v in variables.items()}, loss[rows])
        alone += each.objective
        assert together.of_group(label) == pytest.approx(each.coefficients, rel=1e-4)
    assert together.objective == pytest.approx(alone, rel=1e-8)


def test_one_group_is_no_group():
    variables, loss = one_corpus()
    plain = fit(law("chinchilla"), variables, loss)
    grouped = fit(law("chinchilla"), variables, loss, group=np.full(len(loss), "c4"))
    assert grouped.objective == pytest.approx(plain.objective, rel=1e-9)
    assert grouped.of_group("c4") == pytest.approx(plain.coefficients, rel=1e-5)


def test_groups_may_be_held_bounded_and_of_any_law():
    variables, loss, corpus = corpora(0.01)
    held = fit(law("chinchilla"), variables, loss, group=corpus, own=("E", "A"), fixed={"alpha": 0.3})
    assert held.coefficients["alpha"] == 0.3
    bounded = fit(law("chinchilla"), variables, loss, group=corpus, bounds={"E": (1.0, 1.1)})
    assert all(bounded.of_group(label)["E"] >= 1.0 - 1e-12 for label in FLOORS)
    assert any("E[c4] lies at its upper bound" in note for note in bounded.notes)
    kaplan = fit(law("kaplan"), variables, loss, group=corpus, own="N_c")
    assert {"N_c[c4]", "N_c[pile]", "N_c[code]"} < set(kaplan.coefficients)


def test_resampling_keeps_every_group_in_its_size():
    variables, loss, corpus = corpora(0.01)
    ensemble = fit(law("chinchilla"), variables, loss, group=corpus).resample(100)
    for label, value in FLOORS.items():
        low, high = ensemble.coefficient_interval(f"E[{label}]", 0.99)
        assert low < value < high
    low, high = ensemble.interval({"N": 1e5, "D": 1e7}, 0.99, group="code")
    assert low < law("chinchilla").predict({"N": 1e5, "D": 1e7}, E=FLOORS["code"], **SHARED) < high


def test_a_weight_of_two_is_a_point_seen_twice_and_one_of_zero_is_none():
    variables, loss = one_corpus()
    weights = np.tile([1.0, 2.0, 0.0, 1.0], 5)
    rows = np.repeat(np.arange(20), weights.astype(int))
    weighted = fit(law("chinchilla"), variables, loss, weights=weights)
    repeated = fit(law("chinchilla"), {k: v[rows] for k, v in variables.items()}, loss[rows])
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    assert weighted.coefficients == pytest.approx(repeated.coefficients, rel=1e-5)
    assert weighted.rms_log_residual == pytest.approx(repeated.rms_log_residual, rel=1e-5)
    assert weighted.points == 15


def test_the_scale_of_all_weights_does_not_matter():
    """Weights of 1/n make a mean of the sum: solvers with absolute tolerances stop early there, this one does not."""
    variables, loss, _ = corpora(0.01)
    whole = fit(law("chinchilla"), variables, loss)
    for scale in (1 / len(loss), 1e-9, 1e9):
        scaled = fit(law("chinchilla"), variables, loss, weights=scale)
        assert scaled.objective == pytest.approx(scale * whole.objective, rel=1e-9)
        assert scaled.coefficients == pytest.approx(whole.coefficients, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weights": np.zeros(20)}, "All weights are zero"),
        ({"weights": np.r_[1.0, -1.0, np.ones(18)]}, "Point 2 of 20 has weight -1"),
        ({"weights": np.r_[np.nan, np.ones(19)]}, "Point 1 of 20 has weight nan"),
        ({"weights": np.ones(19)}, "19 weights for 20 points"),
        ({"weights": ["heavy"] * 20}, "column weights holds something that is no number"),
        (
            {"weights": np.r_[np.ones(4), np.zeros(16)]},
            "4 points with a weight above zero, .* 5 coefficients",
        ),
        ({"group": ["a"] * 19}, r"group has shape \(19,\) for 20 points"),
        ({"group": ["a"] * 20, "own": ()}, "own is empty"),
        ({"group": ["a"] * 20, "own": ("G",)}, "own names 'G', which is no coefficient"),
        ({"group": ["a"] * 20, "fixed": {"E": 1.0}}, "own names E, which fixed holds"),
        ({"group": ["a"] * 19 + ["b"], "own": ("E", "A")}, "Group 'b' has 1 points that count, but 2"),
        ({"group": np.array([1, "1"] * 10, dtype=object)}, "names that are written alike"),
        ({"group": np.arange(20)}, "20 points, but the law 'chinchilla' has 24 coefficients"),
        ({"fixed": {"alpha": 5.0}}, "fixed gives alpha = 5, outside its limits 0.001 and 3"),
        (
            {"fixed": {"E": 0.5}, "bounds": {"E": (1.0, 2.0)}},
            "fixed gives E = 0.5, outside its limits 1 and 2",
        ),
        ({"bounds": {"E": 1.0}}, r"bounds gives E the limits 1\.0: give two numbers"),
    ],
)
def test_bad_weights_and_groups_raise_one_sentence(options, sentence):
    with pytest.raises(BadInput, match=sentence) as caught:
        fit(law("chinchilla"), *one_corpus(), **options)
    assert "\n" not in str(caught.value)


def test_a_prediction_of_a_fit_of_groups_needs_a_group():
    variables, loss, corpus = corpora(0.01)
    grouped = fit(law("chinchilla"), variables, loss, group=corpus)
    with pytest.raises(BadInput, match="group is None: choose from c4, pile, code"):
        grouped.predict(variables)
    with pytest.raises(BadInput, match="group is 'books': choose from"):
        grouped.resample(5).interval(variables, group="books")
    plain = fit(law("chinchilla"), *one_corpus())
    with pytest.raises(BadInput, match="the fit has no groups"):
        plain.predict(variables, group="c4")
