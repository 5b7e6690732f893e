"""A predicted curve as a formula of sliders, so that a browser can draw it by itself while one of them moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from explorer.laws.javascript import source
from explorer.laws.program import Program
from explorer.laws.syntax import parse
from explorer.laws.tree import Tree

X = "x"


@dataclass(frozen=True)
class Twin:
    """y of a curve, and where it moves too x, as formulas of sliders' names and of x.

    What it says must be what the curve holds: a test compares the two for every exhibit.

    Args:
        y: such as "E + A/N^alpha + B/x^beta"; x is the curve's own x.
        x: the same for x, where sliders move it; without x in it.
        constants: further names with fixed values.
    """

    y: str
    x: str = ""
    constants: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def _trees(self) -> tuple[Tree, Tree, tuple[str, ...]]:
        y, names = parse(self.y)
        x, more = parse(self.x) if self.x else parse(X)
        return y, x, tuple(dict.fromkeys([X, *names, *more]))

    @property
    def sliders(self) -> frozenset[str]:
        """Names of the sliders it hangs on."""
        return frozenset(self._trees[2]) - {X} - set(self.constants)

    def javascript(self) -> tuple[str, str]:
        """Sources of two functions of {name: number or array}: x, then y; see `explorer.laws.javascript`."""
        y, x, names = self._trees
        return source(x, names), source(y, names)

    def __call__(self, x: ArrayLike, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """(x, y) for sliders' values, from the curve's own x."""
        y, move, names = self._trees
        given: dict[str, ArrayLike] = {X: np.asarray(x, float), **self.constants}
        given |= {name: values[name] for name in names if name not in given}
        moved = np.broadcast_to(Program([move], names)(given)[0], np.shape(given[X]))
        y_now = Program([y], names)({**given, X: moved})[0]
        return moved, np.broadcast_to(y_now, np.shape(moved))
