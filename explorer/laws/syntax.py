"""From the text of a formula to its tree. Nothing in the text is ever run.

The text is cut into numbers, names and marks, and every fault of order among them is told with its column.
Only then is Python's own grammar asked how they group, with a placeholder in the place of every number and
name: nothing that a person typed reaches it, and of what it returns four kinds of nodes are accepted.

    a + b   a - b   a * b   a / b   a ^ b (or a ** b)   -a   ( )   exp(a) and the other FUNCTIONS   pi

A power groups from the right and binds before a sign: -a^b^c is -(a^(b^c)). `E` and `e` are names like any
other; only `pi` is a number. Greek letters are names; so is N₀, the same as N0. · × ÷ − and N² are read too.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import unicodedata
from typing import NamedTuple

from explorer.errors import BadInput
from explorer.laws.tree import Binary, Call, Name, Number, Tree, Unary

LONGEST_TEXT, MOST_PARTS, DEEPEST = 2_000, 250, 50
"""Limits: characters; numbers, names and marks; levels of parentheses and of operations in operations."""

FUNCTIONS = dict.fromkeys(("exp", "log", "ln", "log10", "log2", "sqrt", "abs", "tanh"), 1)
FUNCTIONS |= {"min": 2, "max": 2}
"""How many arguments each takes; min and max take that many or more. log is natural, ln is the same."""

_LETTER = "A-Za-z_Α-ΡΣ-Ωα-ωϑϕϖϰϱϵµ"
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[{_LETTER}][{_LETTER}0-9₀-₉]*)
    |(?P<mark>\*\*|[-+*/^(),])
    |(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?P<again>\s*(?:\^|\*\*|\())?""",
    re.VERBOSE,
)
_LEFT_SIDE = re.compile(r"\s*(L|[Ll]oss)\s*(\([^()=]*\)\s*)?=(?!=)")
_SAME = str.maketrans("·×⋅∗÷−–", "****/--")
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^"}
_STRANGERS = {
    "=": "write only the right side, or begin with L =",
    "<>!": "a formula has no comparisons, take min or max",
    "\"'`": "a formula has no text in quotes",
    ".": "names have no dots, and a number has one",
    "[]{}": "use round parentheses",
}
_TAKEN = ("self", "variables")  # what the functions that take coefficients by name call their own arguments


class _Token(NamedTuple):
    kind: str  # number, name, mark, end
    text: str
    at: int  # characters before it


def parse(text: str) -> tuple[Tree, dict[str, int]]:
    """The tree of a formula, and the place (characters before it) where each name first stands, in order.

    Raises:
        BadInput: it is no formula; the first line says what and where, two more show the place.
    """
    if not isinstance(text, str):
        raise BadInput(f"A formula is a text such as E + A/N^alpha; this is {type(text).__name__}.")
    if len(text) > LONGEST_TEXT:
        raise BadInput(f"The formula has {len(text)} characters: at most {LONGEST_TEXT} are read.")
    left = _LEFT_SIDE.match(text)
    tokens = _tokens(text, left.end() if left else 0)
    _check_order(text, tokens)
    places: dict[str, int] = {}
    for token in tokens:
        if token.kind == "name" and token.text not in FUNCTIONS and token.text != "pi":
            places.setdefault(token.text, token.at)
    if left and left[1] in places:
        raise fault(text, places[left[1]], f"{left[1]} stands on both sides of the = sign")
    words = [f"_{k}" if t.kind in ("number", "name") else t.text for k, t in enumerate(tokens)]
    grouped = ast.parse(" ".join(words).strip(), mode="eval")
    return _read(text, tokens, grouped.body, 1), places


def fault(text: str, at: int, sentence: str) -> BadInput:
    """The error for what stands at `at`: the sentence with its column, and below it the place with a caret."""
    what, colon, advice = sentence.partition(": ")
    first = max(0, at - 40)
    shown = "".join(c if c.isprintable() else " " for c in text[first : at + 40])
    return BadInput(f"{what} (column {at + 1}){colon}{advice}.\n  {shown}\n  {' ' * (at - first)}^")


def _tokens(text: str, start: int) -> list[_Token]:
    same, tokens, at = text.translate(_SAME), [], start
    while at < len(text):
        found = _TOKEN.match(same, at)
        if found is None:
            advice = next((advice for marks, advice in _STRANGERS.items() if text[at] in marks), None)
            shown = repr(text[at]) if text[at].isprintable() else f"U+{ord(text[at]):04X}"
            raise fault(text, at, f"{shown} has no place in a formula: {advice or 'leave it out'}")
        kind, word = str(found.lastgroup), found[0]
        if found["again"]:
            raise fault(text, at, "A raised number is followed by another power or parenthesis: use ^ and *")
        if kind == "raised":
            digits = unicodedata.normalize("NFKC", word).replace("−", "-")
            signed = [_Token("mark", digits[0], at)] if digits[0] in "+-" else []
            tokens += [_Token("mark", "**", at), *signed, _Token("number", digits.lstrip("+-"), at)]
        elif kind == "name":
            tokens.append(_Token(kind, _name(text, at, word), at))
        elif kind != "space":
            tokens.append(_Token(kind, "**" if word == "^" else word, at))
        if len(tokens) > MOST_PARTS:
            raise fault(text, at, f"The formula has more than {MOST_PARTS} numbers, names and marks")
        at = found.end()
    return [*tokens, _Token("end", "", len(text))]


def _name(text: str, at: int, word: str) -> str:
    if keyword.iskeyword(word) or word.startswith("__") or word in _TAKEN:
        advice = f"choose another, e.g. {word.strip('_')}_1"
        raise fault(text, at, f"{word} cannot be the name of a coefficient: {advice}")
    return unicodedata.normalize("NFKC", word)  # one letter, one name: ϵ is ε, N₀ is N0


def _check_order(text: str, tokens: list[_Token]) -> None:
    """Numbers and names alternate with operators, and parentheses close; so Python's grammar never objects."""
    opened: list[tuple[int, bool]] = []  # where, and whether arguments stand in it
    wants_operand, before = True, _Token("mark", "(", 0)
    for token, after in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        operand = token.kind in ("number", "name") or token.text == "("
        if operand and not wants_operand:
            if before.kind == "name" and token.text == "(":
                advice = f"write {before.text}*( to multiply, or one of {', '.join(FUNCTIONS)}"
                raise fault(text, before.at, f"{before.text} is no function: {advice}")
            both = f"{_said(before)} and {_said(token)} stand side by side"
            raise fault(text, token.at, f"{both}: write * between them to multiply")
        if not operand and wants_operand and token.text not in ("+", "-"):
            raise fault(text, token.at, f"A number or a name is missing before {_said(token)}")
        if token.text in ("+", "-") and wants_operand and before.text == "sign":
            raise fault(text, token.at, "Two signs stand in a row: leave one out, or use parentheses")
        call = token.text in FUNCTIONS
        if call and after.text != "(":
            raise fault(text, token.at, f"{token.text} is a function: write {token.text}(...)")
        if token.text == "(":
            opened.append((token.at, before.text in FUNCTIONS))
            if len(opened) > DEEPEST:
                raise fault(text, token.at, f"There are more than {DEEPEST} parentheses in one another")
        elif token.text == ")":
            if not opened:
                raise fault(text, token.at, "This parenthesis closes nothing: leave it out")
            opened.pop()
        elif token.text == "," and not (opened and opened[-1][1]):
            advice = "arguments stand in min(...) or max(...), and decimals have a point"
            raise fault(text, token.at, f"This comma separates no arguments: {advice}")
        elif token.kind == "end" and opened:
            raise fault(text, opened[-1][0], "This parenthesis is never closed: add )")
        sign = token.text in ("+", "-") and wants_operand
        wants_operand = call or (token.kind == "mark" and token.text != ")")
        before = _Token("mark", "sign", token.at) if sign else token


def _said(token: _Token) -> str:
    return "the end" if token.kind == "end" else "^" if token.text == "**" else token.text


def _read(text: str, tokens: list[_Token], node: ast.expr, depth: int) -> Tree:
    def read(inner: ast.expr) -> Tree:
        return _read(text, tokens, inner, depth + 1)

    if depth > DEEPEST:
        raise BadInput(f"The formula has more than {DEEPEST} operations in one another: write it shorter.")
    match node:
        case ast.Name(id=key):
            return _leaf(text, tokens[int(key[1:])])
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return read(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Unary(read(operand))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return Binary(_OPERATORS[type(operator)], read(left), read(right))
        case ast.Call(func=ast.Name(id=key), args=arguments, keywords=[]):
            token = tokens[int(key[1:])]
            count = FUNCTIONS[token.text]
            if len(arguments) < count or (count == 1 and len(arguments) > 1):
                needs = "one argument" if count == 1 else "two arguments or more"
                raise fault(text, token.at, f"{token.text} needs {needs}: here it has {len(arguments)}")
            return Call("log" if token.text == "ln" else token.text, tuple(map(read, arguments)))
    raise BadInput("The formula holds something else than numbers, names, operators and functions.")


def _leaf(text: str, token: _Token) -> Tree:
    if token.kind == "name":
        return Number(math.pi) if token.text == "pi" else Name(token.text)
    value = float(token.text)
    if math.isinf(value) or (value == 0 and re.match(r"[0.]*[1-9]", token.text)):
        raise fault(text, token.at, f"The number {token.text[:20]} is beyond what 64-bit floats hold")
    return Number(value)
