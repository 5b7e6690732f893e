"""Typed formulas: what they mean, how they are written, and the one sentence on what cannot be read."""

import math
import pickle
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.laws import chinchilla
from explorer.laws.formula import Formula
from explorer.laws.roles import roles
from explorer.laws.syntax import parse
from explorer.laws.tree import Binary, Call, Name, Number, Unary, write

CHINCHILLA = "E + A/N^alpha + B/D^beta"
VALUES = {"E": 1.8, "A": 480.0, "alpha": 0.35, "B": 2100.0, "beta": 0.37}


def value(text, **inputs):
    """The number that a formula gives; the names that stand in it and are not given are 0."""
    places = parse(text)[1]
    return float(
        Formula(f"({text}) + 0*x + 0*k", ["x"])(**{**dict.fromkeys((*places, "x", "k"), 0.0), **inputs})
    )


def leaves():
    numbers = st.one_of(st.integers(0, 99).map(float), st.floats(0, 1e300), st.just(math.pi))
    return st.one_of(numbers.map(Number), st.sampled_from(["N", "D_1", "alpha", "ε", "E", "e"]).map(Name))


def grown(inner):
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        inner.map(Unary),
        st.builds(Binary, st.sampled_from("+-*/^"), inner, inner),
        st.builds(Call, st.sampled_from(["exp", "log", "log10", "sqrt", "abs", "tanh"]), st.tuples(inner)),
        st.builds(Call, st.sampled_from(["min", "max"]), several),
    )


trees = st.recursive(leaves(), grown, max_leaves=14)


@given(trees)
def test_canonical_text_parses_back(tree):
    again, _ = parse(write(tree))
    assert again == tree
    assert write(again) == write(tree)


def test_names_become_variables_and_coefficients():
    formula = Formula("L(N, D) = " + CHINCHILLA, ["D", "tokens", "N"])
    assert formula.variables == ("N", "D")
    assert formula.coefficients == ("E", "A", "alpha", "B", "beta")
    assert str(formula) == CHINCHILLA
    assert formula.notes == ()
    assert eval(repr(formula)).tree == formula.tree


def test_values_are_those_of_the_written_law():
    N, D = np.geomspace(1e6, 1e12, 5)[:, None], np.geomspace(1e8, 1e13, 4)
    found = Formula(CHINCHILLA, ["N", "D"])(N=N, D=D, **VALUES)
    assert found.dtype == float
    assert found.shape == (5, 4)
    np.testing.assert_allclose(found, chinchilla.loss(N, D, **VALUES), rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2^3^2", 512),
        ("2**3**2", 512),
        ("-2^2", -4),
        ("2^-1", 0.5),
        ("2^-1^2", 0.5),
        ("-2^-2*4", -1),
        ("(-2)^2", 4),
        ("8/4/2", 1),
        ("8-4-2", 2),
        ("8/4*2", 4),
        ("1 - -2", 3),
        ("+3 - +2", 1),
        ("2e3 + .5 + 6.5 + 1.", 2008),
        ("2·3 × 4 ÷ 2 − 1", 11),
        ("10⁻³*2²", 0.004),
        ("2^3²", 512),
        ("log(exp(2)) + ln(exp(1))", 3),
        ("log10(1000) + log2(8)", 6),
        ("sqrt(16) + abs(-2) + tanh(0)", 6),
        ("min(3, 1, 2) + max(1, 2)", 3),
        ("pi", math.pi),
        ("N0 + N₀ + ε + ϵ", 22),
        ("E*e", 6),
        (" \n(\t2 ) ", 2),
    ],
)
def test_meaning(text, expected):
    assert value(
        text, **{k: v for k, v in {"N0": 1, "ε": 10, "E": 2, "e": 3}.items() if k in parse(text)[1]}
    ) == (pytest.approx(expected, rel=1e-15))


@pytest.mark.filterwarnings("error")
def test_overflow_is_infinite_and_the_undefined_is_nan():
    assert value("N^N^N", N=1e3) == np.inf
    assert value("exp(N) - exp(N)", N=1e4) != value("exp(N) - exp(N)", N=1e4)
    assert math.isnan(value("log(0 - 1)"))
    assert math.isnan(value("(0 - 8)^(1/3)"))
    assert value("0^0") == 1
    assert value("1/0 + 2e20") == np.inf


REFUSED = [
    ("__import__('os').system('x')", 1, "__import__ cannot be the name"),
    ("N.__class__", 2, r"'\.' has no place in a formula"),
    ("N[0]*a", 2, r"'\[' has no place .*round parentheses"),
    ("lambda*N", 1, "lambda cannot be the name .* lambda_1"),
    ("a if N else b", 3, "if cannot be the name"),
    ("N < a", 3, "'<' has no place .*min or max"),
    ("a == N", 3, "'=' has no place .*begin with L ="),
    ("'a'*N", 1, "quotes"),
    ("a*N; b", 4, "';' has no place"),
    ("a*N\u200b", 4, r"U\+200B has no place"),
    ("a*N\ud800", 4, r"U\+D800 has no place"),
    ("self*N", 1, "self cannot be the name"),
    ("sin(N)*a", 1, "sin is no function .*exp, log"),
    ("N(a + 1)", 1, r"N is no function .*N\*\( to multiply"),
    ("2 N + a", 3, r"2 and N stand side by side .*write \*"),
    ("2j*N", 2, "2 and j stand side by side"),
    ("0x10*N", 2, "0 and x10"),
    ("1_000*N", 2, "1 and _000"),
    ("1,5*N*a", 2, "This comma separates no arguments .*decimals have a point"),
    ("max((a, N), 1)", 7, "This comma"),
    ("exp(a, N)", 1, "exp needs one argument .*has 2"),
    ("min(N) + a", 1, "min needs two arguments or more .*has 1"),
    ("exp + N*a", 1, r"exp is a function .*write exp\(\.\.\.\)"),
    ("max(N, a,)", 10, r"missing before \)"),
    ("exp()", 5, r"missing before \)"),
    ("E + A/N^", 9, "missing before the end"),
    ("", 1, "missing before the end"),
    ("E + * N", 5, r"missing before \*"),
    ("a - - - N", 7, "Two signs"),
    ("(a + N", 1, r"never closed .*add \)"),
    ("a + N)", 6, "closes nothing"),
    ("a*N²^2", 4, "raised number"),
    ("a*N^1e999", 5, "beyond what 64-bit floats hold"),
    ("a*N^1e-999", 5, "beyond what 64-bit floats hold"),
    ("L = L + a*N", 5, "both sides"),
    ("y = a*N", 3, "'=' has no place"),
    ("E + A/n^a", 7, "none of the variables .N, D.*write N if n stands for it"),
    ("E + A/x^a", 1, "none of the variables .N, D.*name at least one"),
    ("2 + 3", 1, "none of the variables"),
    ("N/D", 1, "no coefficient to fit"),
    ("N*(" + "+".join(f"c{k}" for k in range(13)) + ")", 42, "more than 12 coefficients"),
    ("N**" * 600 + "a", 376, "more than 250 numbers, names and marks"),
    ("-" * 1900 + "N", 251, "more than 250"),
    ("(" * 60 + "N" + ")" * 60, 51, "more than 50 parentheses"),
]


@pytest.mark.parametrize(("text", "column", "sentence"), REFUSED)
def test_refused_with_a_sentence_and_a_caret(text, column, sentence):
    with pytest.raises(BadInput, match=sentence) as caught:
        Formula(text, ["N", "D"])
    first, shown, caret = str(caught.value).split("\n")
    assert f"(column {column})" in first
    assert first.endswith(".")
    if column <= len(text) and text[column - 1].isprintable():
        assert shown[len(caret) - 1] == text[column - 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(" * 10_000 + "N" + ")" * 10_000, "has 20001 characters: at most 2000"),
        ("+".join(["N"] * 60) + "*a", "more than 50 operations in one another"),
        (None, "a text such as .* NoneType"),
        (b"E + A/N", "a text such as .* bytes"),
    ],
)
def test_refused_as_a_whole(text, sentence):
    with pytest.raises(BadInput, match=sentence):
        Formula(text, ["N"])


pieces = st.sampled_from(
    [
        *"NDEabe0123456789.,()+-*/^=<>[]{}'\"_ \n\t\\;:@#ε²⁻₀·",
        "**",
        "exp(",
        "min(",
        "log",
        "1e",
        "L =",
        "lambda ",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(pieces, max_size=60).map("".join), st.text(max_size=80)))
@example("\x00")
@example("N" * 2000)
@example("exp(" * 50 + "N")
@example("N^a" + "^a" * 48)
@example("9" * 2000)
@example("L=" + "(" * 1990)
def test_garbage_raises_nothing_but_bad_input_and_soon(text):
    started = time.thread_time()
    try:
        formula = Formula(text, ["N", "D"])
        formula(**dict.fromkeys(formula.names, 2.0))
        assert parse(str(formula))[0] == formula.tree
    except BadInput as told:
        assert str(told)
    assert time.thread_time() - started < 0.1


def test_a_misspelt_variable_is_noted():
    formula = Formula("E + A/param^alpha + B/D^beta", ["params", "D"])
    assert formula.coefficients == ("E", "A", "param", "alpha", "B", "beta")
    assert formula.notes == (
        "param is read as a coefficient, and the variable params is not used: was params meant?",
    )


def test_inputs_are_named_exactly():
    formula = Formula("A*N^-a", ["N"])
    for inputs in ({"N": 1, "A": 2}, {"N": 1, "A": 2, "a": 3, "b": 4}):
        with pytest.raises(BadInput, match="give exactly N, A, a"):
            formula(**inputs)


def test_what_is_common_is_computed_once():
    formula = Formula("A*exp(-k*N)/(1 + exp(-k*N)) + exp(-k*N)", ["N"])
    assert [step[0] for step in formula._value.steps if not isinstance(step, float)].count("exp") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHINCHILLA, "floor scale exponent scale exponent"),
        ("E + (A/N^a + B*D^-b)^g", "floor scale exponent scale exponent exponent"),
        ("((N_c/N)^(a/b) + D_c/D)^b", "scale exponent exponent scale"),
        ("A*N^b + E", "scale slope floor"),
        ("A/(N + M)^b", "scale scale exponent"),
        ("E - A*log(N)", "floor scale"),
        ("exp(a - b*log(N)) + exp(e)", "offset slope offset"),
        ("M/(1 + exp(-k*(log(N) - m)))", "scale slope offset"),
        ("E + A*exp(-k*N)", "floor scale scale"),
        ("2^(a - b*log2(N))", "offset slope"),
        ("max(E, A/N^a)", "floor scale exponent"),
        ("eta*N^eta + N^-eta", "exponent"),
    ],
)
def test_roles(text, expected):
    formula = Formula(text, ["N", "D"])
    assert list(roles(formula.tree, formula.variables).values()) == expected.split()


def test_a_law_can_be_sent_to_another_process():
    law = pickle.loads(pickle.dumps(Formula(CHINCHILLA, ["N", "D"]).law()))
    assert law.predict({"N": 1e9, "D": 2e10}, **VALUES) == pytest.approx(
        chinchilla.loss(1e9, 2e10, **VALUES), rel=1e-14
    )
