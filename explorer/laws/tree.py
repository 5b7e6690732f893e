"""What a formula is made of: five kinds of frozen nodes, and the text that they are written as."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A constant; pi is one too."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or a coefficient."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """Minus the operand."""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands with one of + - * / ^ between them."""

    operator: str
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Call:
    """A function of its arguments, e.g. exp(x)."""

    function: str
    arguments: tuple[Tree, ...]


Tree = Number | Name | Unary | Binary | Call

_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_SIGN, _ATOM = 3, 5


def children(tree: Tree) -> tuple[Tree, ...]:
    """The nodes right below."""
    match tree:
        case Unary(operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Call(_, arguments):
            return arguments
    return ()


def names(tree: Tree) -> tuple[str, ...]:
    """Every name in it, once each, in order of first appearance."""
    if isinstance(tree, Name):
        return (tree.name,)
    return tuple(dict.fromkeys(name for child in children(tree) for name in names(child)))


def write(tree: Tree) -> str:
    """The text of the tree with the fewest parentheses; parsed again, it gives the same tree."""
    return _write(tree)[0]


def _write(tree: Tree) -> tuple[str, int]:
    """The text, and how strongly it holds together."""
    match tree:
        case Number(value):
            text = "pi" if value == math.pi else repr(value).removesuffix(".0")
            return text, _SIGN if value < 0 else _ATOM
        case Name(name):
            return name, _ATOM
        case Unary(operand):
            return "-" + _within(operand, _LEVEL["^"]), _SIGN
        case Binary(operator, left, right):
            level = _LEVEL[operator]
            # A power groups from the right, and its exponent may carry a sign; the others group from the left.
            sides = (_ATOM, _SIGN) if operator == "^" else (level, level + 1)
            gap = " " if level == 1 else ""
            return f"{_within(left, sides[0])}{gap}{operator}{gap}{_within(right, sides[1])}", level
        case Call(function, arguments):
            return f"{function}({', '.join(write(each) for each in arguments)})", _ATOM


def _within(tree: Tree, least: int) -> str:
    text, level = _write(tree)
    return text if level >= least else f"({text})"
