"""The JavaScript of a typed formula gives numpy's numbers in a real browser."""

import json
import random

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.laws.formula import Formula
from explorer.laws.program import OPERATIONS
from explorer.laws.tree import Binary, Call, Name, Number, Tree, Unary, write

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1e300, 1e-300, np.inf, -np.inf, np.nan]
RUN = """(jobs) => jobs.map(([source, inputs]) => {
  const twin = (0, eval)(source);
  return Array.from(twin(inputs));
})"""


@pytest.fixture
def twin(browser):
    """Runs formulas in the browser: a list of (formula, inputs) gives a list of arrays."""
    page = browser.new_page()

    def run(jobs):
        listed = [
            [formula.javascript(), {k: np.asarray(v, float).tolist() for k, v in inputs.items()}]
            for formula, inputs in jobs
        ]
        return [np.array(each, float) for each in page.evaluate(RUN, listed)]

    yield run
    page.close()


def grown(chance: random.Random, depth: int) -> Tree:
    if depth == 0 or chance.random() < 0.15:
        if chance.random() < 0.25:
            return Number(chance.choice([0.0, 0.5, 1.0, 2.0, 3.0, 10.0, chance.uniform(0, 30)]))
        return Name(chance.choice(["N", "D", "a", "b", "c"]))

    def inner() -> Tree:
        return grown(chance, depth - 1)

    kind = chance.random()
    if kind < 0.65:
        return Binary(chance.choice("+-*/^"), inner(), inner())
    if kind < 0.72:
        return Unary(inner())
    if kind < 0.82:
        return Call(chance.choice(["min", "max"]), tuple(inner() for _ in range(chance.choice([2, 3]))))
    functions = ["exp", "log", "log10", "log2", "sqrt", "abs", "tanh"]
    return Call(chance.choice(functions), (inner(),))


def shaken(formula, inputs, seed):
    """The value when every step is wrong by some units in the last place: tells which values are well set."""
    noise, program = np.random.default_rng(seed), formula._value
    length = max(2, *(np.size(value) for value in inputs.values()))
    slots = [np.resize(inputs[name], length) for name in program.names]
    with np.errstate(all="ignore"):
        for step in program.steps:
            if isinstance(step, float):
                slots.append(np.full(length, step))
            else:
                # All of one length: for a lone exponent of 1/2 numpy takes a root, and (-inf)^0.5 is NaN.
                exact = OPERATIONS[step[0]].numpy(*(slots[k] for k in step[1]))
                rough = step[0] in ("^", "exp", "log", "log10", "log2", "tanh")
                slots.append(exact * (1 + rough * noise.choice([-6e-16, 0.0, 6e-16], length)))
    return slots[program.results[0]][: max(np.size(value) for value in inputs.values())]


def compare(jobs, twin):
    """How many values of the jobs are well set; all of these must be numpy's to 1e-12."""
    set_well = total = 0
    for (formula, inputs), found in zip(jobs, twin(jobs), strict=True):
        expected = np.atleast_1d(formula(**inputs))
        assert found.shape == expected.shape
        others = np.stack([shaken(formula, inputs, seed) for seed in range(8)])
        with np.errstate(all="ignore"):
            same = (others == expected) | (np.isnan(others) & np.isnan(expected))
            well = (same | (np.abs(others - expected) <= 1e-13 * np.abs(expected))).all(axis=0)
            near = np.abs(found - expected) <= 1e-12 * np.abs(expected)
        near |= (found == expected) & (np.signbit(found) == np.signbit(expected))
        near |= np.isnan(found) & np.isnan(expected)
        wrong = well & ~near
        assert not wrong.any(), (str(formula), inputs, found[wrong], expected[wrong])
        set_well, total = set_well + int(well.sum()), total + well.size
    return set_well / total


def jobs_of(count, seed, values):
    chance, jobs = random.Random(seed), []
    while len(jobs) < count:
        try:
            formula = Formula(write(grown(chance, 5)), ["N", "D"])
        except BadInput:  # without a variable or a coefficient
            continue
        inputs = {name: np.array([values(chance) for _ in range(16)]) for name in formula.variables}
        jobs.append((formula, inputs | {name: values(chance) for name in formula.coefficients}))
    return jobs


def test_random_formulas_of_ordinary_numbers(twin):
    def ordinary(chance):
        return chance.choice([chance.uniform(0.01, 5), chance.uniform(-3, 3), 10 ** chance.uniform(-12, 12)])

    assert compare(jobs_of(250, 1, ordinary), twin) > 0.8


def test_random_formulas_of_edges(twin):
    assert compare(jobs_of(250, 2, lambda chance: chance.choice(EDGES)), twin) > 0.8


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "^", "min", "max"])
def test_every_pair_of_edges(twin, operator):
    text = f"{operator}(N, D)" if operator in ("min", "max") else f"N{operator}D"
    N, D = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    formula = Formula(f"({text})*a", ["N", "D"])
    assert compare([(formula, {"N": N, "D": D, "a": 1.0})], twin) == 1


@pytest.mark.parametrize("function", ["exp", "log", "log10", "log2", "sqrt", "abs", "tanh", "-"])
def test_every_function(twin, function):
    x = np.concatenate([EDGES, np.geomspace(1e-308, 1e308, 999), -np.geomspace(1e-308, 1e308, 99)])
    x = np.concatenate([x, np.linspace(-750, 750, 999), 1 + np.geomspace(1e-15, 1, 99)])
    assert compare([(Formula(f"{function}(N)*a", ["N"]), {"N": x, "a": 1.0})], twin) > 0.7


def test_the_laws_over_the_ranges_of_their_sliders(twin):
    chance, jobs = random.Random(3), []
    N, D = np.geomspace(1e3, 1e13, 200), np.geomspace(1e6, 1e15, 200)
    for text in (
        "E + A/N^alpha + B/D^beta",
        "E + (A/N^alpha + B/D^beta)^gamma",
        "((A/N)^(alpha/beta) + B/D)^beta",
        "exp(E - alpha*log(N)) + exp(A - beta*log(D))",
    ):
        for _ in range(15):
            ranges = {"E": (0, 3), "A": (1, 1e5), "B": (1, 1e5)}
            formula = Formula(text, ["N", "D"])
            inputs = {name: chance.uniform(*ranges.get(name, (0.03, 1.5))) for name in formula.coefficients}
            jobs.append((formula, {"N": N, "D": D, **inputs}))
    found = twin(jobs)
    expected = [formula(**inputs) for formula, inputs in jobs]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def test_numbers_alone_give_one_value_and_faults_are_thrown(browser):
    formula = Formula("E + A/N^constructor", ["N"])
    calls = {
        "numbers": {"N": 4, "E": 1, "A": 2, "constructor": 0.5},
        "null": {"N": [4, None], "E": 1, "A": 2, "constructor": 0.5},
        "missing": {"N": 4, "E": 1, "A": 2},
        "lengths": {"N": [1, 2], "E": [1], "A": 2, "constructor": 1},
    }
    page = browser.new_page()
    told = page.evaluate(
        """([source, calls]) => Object.fromEntries(Object.entries(calls).map(([key, inputs]) => {
          try {
            const found = (0, eval)(source)(inputs);
            return [key, [found.constructor.name, ...Array.from(found, String)]];
          } catch (fault) { return [key, fault.message]; }
        }))""",
        [formula.javascript(), calls],
    )
    page.close()
    assert told == {
        "numbers": ["Float64Array", "2"],
        "null": ["Float64Array", "2", "NaN"],
        "missing": "missing input constructor",
        "lengths": "inputs of lengths 2, 1",
    }


def test_names_stand_in_the_source_only_as_keys():
    formula = Formula("alert/N^eval + ε", ["N"])
    source = formula.javascript()
    assert source.isascii()
    assert source.count("alert") == source.count("eval") == 1
    assert json.dumps(["N", "alert", "eval", "ε"]) in source


def test_a_slider_is_answered_within_a_frame(browser):
    formula = Formula("E + A/N^alpha + B/D^beta", ["N", "D"])
    inputs = {"N": np.geomspace(1e6, 1e12, 500).tolist(), "D": 2e10, "E": 1.8, "A": 480, "alpha": 0.35}
    page = browser.new_page()
    milliseconds = page.evaluate(
        """([source, inputs]) => {
          const twin = (0, eval)(source);
          const times = [];
          for (let k = 0; k < 40; k++) {
            const start = performance.now();
            twin({...inputs, beta: 0.3 + 0.001 * k, B: 2100});
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b)[20];
        }""",
        [formula.javascript(), inputs],
    )
    page.close()
    assert milliseconds < 4
