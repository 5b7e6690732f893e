"""Trees as one straight list of steps in which nothing is computed twice: run by numpy, written as JavaScript.

The table of operations holds both forms side by side. Where the two languages differ by themselves, the
table makes them agree: C's power gives 1^x = 1 and (-1)^(±inf) = 1 even where Math.pow gives NaN; of the two
zeros min and max return +0. Only (-inf)^0.5 stays open: numpy gives inf, or NaN where the exponent is one number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.laws.tree import Binary, Call, Name, Number, Tree, Unary


class Operation(NamedTuple):
    """One operation, as a numpy function and as JavaScript around its arguments."""

    numpy: Callable[..., Any]
    javascript: str


OPERATIONS = {
    "+": Operation(np.add, "{0} + {1}"),
    "-": Operation(np.subtract, "{0} - {1}"),
    "*": Operation(np.multiply, "{0} * {1}"),
    "/": Operation(np.divide, "{0} / {1}"),
    "^": Operation(np.power, "power({0}, {1})"),
    "negative": Operation(np.negative, "-{0}"),
    "exp": Operation(np.exp, "Math.exp({0})"),
    "log": Operation(np.log, "Math.log({0})"),
    "log10": Operation(np.log10, "Math.log10({0})"),
    "log2": Operation(np.log2, "Math.log2({0})"),
    "sqrt": Operation(np.sqrt, "Math.sqrt({0})"),
    "abs": Operation(np.abs, "Math.abs({0})"),
    "tanh": Operation(np.tanh, "Math.tanh({0})"),
    "min": Operation(lambda x, y: np.minimum(x, y) + 0.0, "Math.min({0}, {1}) + 0"),
    "max": Operation(lambda x, y: np.maximum(x, y) + 0.0, "Math.max({0}, {1}) + 0"),
    # Only in derivatives: the third where the first is at most the second, else the fourth.
    "choose": Operation(lambda x, y, a, b: np.where(x <= y, a, b), "{0} <= {1} ? {2} : {3}"),
}


class Program:
    """Several trees of the same names, computed together.

    Args:
        trees: what is computed.
        names: what is given, at least every name in the trees.
    """

    def __init__(self, trees: Sequence[Tree], names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.steps: list[tuple[str, tuple[int, ...]] | float] = []
        self._known: dict[object, int] = {name: k for k, name in enumerate(self.names)}
        self._seen: dict[int, int] = {}
        self.results = [self._add(tree) for tree in trees]
        del self._known, self._seen
        self._spent = self._last_uses()

    def __call__(self, inputs: Mapping[str, ArrayLike]) -> list[np.ndarray]:
        """Every tree's value, float64; inputs broadcast. What overflows is infinite, what is undefined NaN."""
        slots: list[Any] = [np.asarray(inputs[name], float) for name in self.names]
        with np.errstate(all="ignore"):
            for step, spent in zip(self.steps, self._spent, strict=True):
                if isinstance(step, float):
                    slots.append(np.float64(step))
                else:
                    slots.append(OPERATIONS[step[0]].numpy(*[slots[k] for k in step[1]]))
                for k in spent:
                    slots[k] = None
        return [slots[k] for k in self.results]

    def javascript(self, slot: Callable[[int], str]) -> list[str]:
        """One statement a step; `slot` names the place of each value, the given names' first."""
        lines = []
        for k, step in enumerate(self.steps, len(self.names)):
            value = (
                repr(step)
                if isinstance(step, float)
                else OPERATIONS[step[0]].javascript.format(*map(slot, step[1]))
            )
            lines.append(f"const {slot(k)} = {value};")
        return lines

    def _last_uses(self) -> list[list[int]]:
        """For every step the slots that nothing needs after it: memory that is freed early stays in the cache."""
        spent: list[list[int]] = [[] for _ in self.steps]
        kept = set(self.results)
        for step, freed in zip(reversed(self.steps), reversed(spent), strict=True):
            if not isinstance(step, float):
                freed += set(step[1]) - kept
                kept.update(step[1])
        return spent

    def _add(self, tree: Tree) -> int:
        """The slot of the tree's value."""
        if id(tree) not in self._seen:  # derivatives share whole branches
            self._seen[id(tree)] = self._place(tree)
        return self._seen[id(tree)]

    def _place(self, tree: Tree) -> int:
        match tree:
            case Number(value):
                return self._step(float(value))
            case Name(name):
                return self._known[name]
            case Unary(operand):
                return self._step(("negative", (self._add(operand),)))
            case Binary(operator, left, right):
                sides = (self._add(left), self._add(right))
                return self._step((operator, tuple(sorted(sides)) if operator in "+*" else sides))
            case Call("min" | "max", (first, *rest)):
                slot = self._add(first)
                for each in rest:
                    slot = self._step((tree.function, (slot, self._add(each))))
                return slot
            case Call(function, arguments):
                return self._step((function, tuple(self._add(each) for each in arguments)))

    def _step(self, step: tuple[str, tuple[int, ...]] | float) -> int:
        if step not in self._known:
            self._known[step] = len(self.names) + len(self.steps)
            self.steps.append(step)
        return self._known[step]
