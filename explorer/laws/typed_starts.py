"""Where a fit of a typed formula starts from: on a grid of what is nonlinear, the rest by least squares.

For E + A/N^alpha + B/D^beta this is what the Chinchilla law does: alpha and beta on a grid, E, A and B
projected. It holds for every sum of terms c * (anything without c). Scales that the formula is not linear in,
such as N_c in (N_c/N)^alpha, are scattered over decades around the size that balances what they stand with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from explorer.laws.derivative import ONE, derivative, divide, multiply
from explorer.laws.law import Arrays
from explorer.laws.program import Program
from explorer.laws.projection import exponent_grid, mesh, project
from explorer.laws.tree import Binary, Name, Tree, Unary, children, names

_MOST_LINEAR = 6  # the projection tries every subset of them
_GRID = {1: 48, 2: 12, 3: 8}  # values of each exponent by the number of exponents
_MOST_STARTS = 1024
_DECADES = 4.0  # to either side


class TypedStarts:
    """Called with the variables, the loss and the coefficients that are held, as `Law.starts` is.

    Args:
        tree: the formula.
        variables: the names of it that are measured.
        roles: the role of every other name.
    """

    def __init__(self, tree: Tree, variables: Sequence[str], roles: Mapping[str, str]) -> None:
        self.variables, self.roles = tuple(variables), dict(roles)
        slopes = {name: derivative(tree, name) for name in roles}
        self.linear: list[str] = []
        for name in (name for name, role in roles.items() if role in ("floor", "scale")):
            chosen = {*self.linear, name}
            if len(chosen) <= _MOST_LINEAR and not any(chosen & {*names(slopes[each])} for each in chosen):
                self.linear.append(name)
        # Exponents first: the size that a scale should have depends on them.
        curved = [name for name in roles if name not in self.linear]
        self.curved = sorted(curved, key=lambda name: roles[name] in ("scale", "floor"))
        self._columns = Program([tree, *(slopes[name] for name in self.linear)], [*variables, *roles])
        self._sizes = {name: Program([*_sizes(tree, name)], [*variables, *roles]) for name in self.curved}

    def __call__(
        self, variables: Arrays, loss: np.ndarray, fixed: Mapping[str, float]
    ) -> dict[str, np.ndarray]:
        """Arrays of one length for every coefficient."""
        found = self._curved_values(variables, fixed)
        shape = np.broadcast_shapes((1,), *(value.shape for value in found.values()))
        found = {name: np.broadcast_to(value, shape) for name, value in found.items()}
        # A formula that is linear in some coefficients is, where these are 0, what the others leave.
        at_zero = {name: column[:, None] for name, column in found.items()}
        at_zero |= dict.fromkeys(self.linear, np.zeros(1))
        values = [np.broadcast_to(v, (*shape, len(loss))) for v in self._columns({**variables, **at_zero})]
        sound = np.isfinite(values).all(axis=(0, 2))
        if self.linear and sound.any():
            rest, *columns = (value[sound] for value in values)
            found = {name: value[sound] for name, value in found.items()}
            known = [fixed.get(name) for name in self.linear]
            found |= zip(self.linear, project(columns, loss - rest, 1 / loss, known), strict=True)
        return {name: found.get(name, np.ones(shape)) for name in self.roles}

    def _curved_values(self, variables: Arrays, fixed: Mapping[str, float]) -> dict[str, np.ndarray]:
        free = [name for name in self.curved if name not in fixed]
        held = {name: np.array([fixed[name]]) for name in self.curved if name in fixed}
        if not free:
            return held
        if all(self.roles[name] in ("exponent", "slope") for name in free):
            grid = exponent_grid(None, count=_GRID.get(len(free), 8))
            axes = [grid if self.roles[name] == "exponent" else np.append(-grid, grid) for name in free]
            if np.prod([len(axis) for axis in axes]) <= _MOST_STARTS:
                return held | dict(zip(free, mesh(*axes), strict=True))
        # Even places in the cube: multiples of the powers of the root of x^(d + 1) = x + 1.
        root = 2.0
        for _ in range(60):
            root = (1 + root) ** (1 / (len(free) + 1))
        step = root ** -np.arange(1.0, len(free) + 1)
        cube = (0.5 + np.arange(_MOST_STARTS)[:, None] * step) % 1
        middle = {name: np.exp(np.mean(np.log(variables[name]))) for name in self.variables}
        ones = dict.fromkeys(self.roles, np.ones(1))
        found = dict(held)
        for name, place in zip(free, cube.T, strict=True):
            found[name] = self._placed(name, place, {**ones, **middle, **found})
        return found

    def _placed(self, name: str, place: np.ndarray, known: Mapping[str, np.ndarray]) -> np.ndarray:
        """Values of a coefficient for places between 0 and 1."""
        role = self.roles[name]
        if role in ("exponent", "slope"):
            return 0.03 * (2 / 0.03) ** place if role == "exponent" else 4 * place - 2
        sizes = [np.broadcast_to(np.abs(size), place.shape) for size in self._sizes[name](known)]
        each = np.stack(sizes or [np.ones_like(place)])
        size = each[np.arange(len(place)) % len(each), np.arange(len(place))]
        size = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        return size + 20 * place - 10 if role == "offset" else size * 10 ** (2 * _DECADES * (place - 0.5))


def _sizes(tree: Tree, name: str) -> Iterator[Tree]:
    """For every product or sum that the coefficient stands in, the value that balances it with the rest."""
    match tree:
        case Binary("*" | "/"):
            factors = list(_factors(tree, False))
            for k, (factor, below) in enumerate(factors):
                if factor == Name(name):
                    size: Tree = ONE
                    for other, other_below in factors[:k] + factors[k + 1 :]:
                        size = multiply(size, other) if other_below != below else divide(size, other)
                    yield size
            for factor, _ in factors:
                yield from _sizes(factor, name)
            return
        case Binary("+" | "-", left, right):
            yield from [right] * (left == Name(name)) + [left] * (right == Name(name))
    for child in children(tree):
        yield from _sizes(child, name)


def _factors(tree: Tree, below: bool) -> Iterator[tuple[Tree, bool]]:
    """The factors of a product, and whether each stands below the fraction."""
    match tree:
        case Unary(operand):
            yield from _factors(operand, below)
        case Binary("*" | "/" as operator, left, right):
            yield from _factors(left, below)
            yield from _factors(right, below != (operator == "/"))
        case _:
            yield tree, below
