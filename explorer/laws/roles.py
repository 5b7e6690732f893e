"""Where a coefficient stands in a formula decides between which limits a fit looks for it.

    role      where it stands                                             limits         fitted as logarithm
    floor     a term of the whole sum by itself, as E                     e^-10 to 1e6   yes
    scale     it multiplies, divides, or is added inside a power or log   1e-40 to 1e80  yes
    slope     in an exponent with which a variable would rise, as A*N^b;  -3 to 3        no
              or in a product inside exp without variables but in a log
    exponent  in any other exponent, as A*N^-b or A/N^b                   1e-3 to 3      no
    offset    a term by itself inside exp, tanh or 2^(...)                -100 to 100    no

So a floor and a scale are positive: a term that is taken away is written with a minus. Of several roles the one
lowest in this table holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from explorer.laws.law import Coefficient
from explorer.laws.tree import Binary, Call, Name, Number, Tree, Unary, children, names

# Label in the doc of a coefficient, default, low, high, log, usual range; in order of precedence.
_ROLES: dict[str, tuple[str, float, float, float, bool, tuple[float, float]]] = {
    "offset": ("Offset in an exponent.", 0.0, -100.0, 100.0, False, (-5.0, 5.0)),
    "exponent": ("Exponent.", 0.3, 1e-3, 3.0, False, (0.05, 1.0)),
    "slope": ("Exponent of either sign.", -0.3, -3.0, 3.0, False, (-1.0, 1.0)),
    "scale": ("Scale.", 1.0, 1e-40, 1e80, True, (1e-3, 1e6)),
    # Kept above zero like that of the Chinchilla law: in the log domain a zero floor would drift without end.
    "floor": ("Floor.", 1.0, math.exp(-10), 1e6, True, (0.01, 10.0)),
}


def roles(tree: Tree, variables: Iterable[str]) -> dict[str, str]:
    """The role of every coefficient (every name that is no variable), in order of first appearance."""
    found: dict[str, set[str]] = {name: set() for name in names(tree) if name not in set(variables)}
    _visit(tree, "floor", True, found)
    return {name: next(role for role in _ROLES if role in each) for name, each in found.items()}


def coefficient(name: str, role: str) -> Coefficient:
    """The coefficient `name` with the limits of its role."""
    doc, default, low, high, log, usual = _ROLES[role]
    return Coefficient(name, default, low, high, log, name, "", doc, usual)


def _visit(tree: Tree, role: str, above: bool, found: dict[str, set[str]]) -> None:
    """Note the role of every coefficient in `tree`, which itself plays `role`; `above`: below no fraction."""
    match tree:
        case Name(name) if name in found:
            found[name].add(role)
        case Binary("+" | "-", left, right):
            # Inside exp: what is added to a logarithm of a variable shifts it, as m in k*(log(C) - m).
            shifts = role == "slope" and any(name not in found for name in names(tree))
            for side in (left, right):
                _visit(side, "offset" if shifts else role, above, found)
        case Binary("*" | "/" as operator, left, right):
            _visit(left, _factor(role, right, found), above, found)
            _visit(right, _factor(role, left, found), above != (operator == "/"), found)
        case Call("exp" | "tanh", (argument,)) | Binary("^", Number(), argument):
            _visit(argument, "offset", above, found)
        case Binary("^", base, exponent):
            _visit(base, "scale", above, found)
            falls = not above or _minus_first(exponent) or any(name in found for name in names(base))
            for name in {*names(exponent)} & {*found}:
                found[name].add("exponent" if falls else "slope")
        case Unary(operand):
            _visit(operand, role, above, found)
        case Call(function, arguments):
            for each in arguments:
                _visit(each, role if function in ("min", "max") else "scale", above, found)


def _factor(role: str, other: Tree, found: Iterable[str]) -> str:
    """The role of what `other` multiplies in something that plays `role`."""
    return "slope" if role in ("offset", "slope") and not _bare(other, found) else "scale"


def _minus_first(tree: Tree) -> bool:
    """Whether the text of the product begins with a minus."""
    while isinstance(tree, Binary) and tree.operator in "*/":
        tree = tree.left
    return isinstance(tree, Unary)


def _bare(tree: Tree, found: Iterable[str]) -> bool:
    """Whether a variable stands in it outside of a logarithm."""
    match tree:
        case Name(name):
            return name not in found
        case Call("log" | "log10" | "log2"):
            return False
    return any(_bare(child, found) for child in children(tree))
