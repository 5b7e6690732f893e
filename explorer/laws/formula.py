"""One formula, three uses: a law that a person types becomes a numpy function, its exact derivatives, and JavaScript.

    formula = Formula("E + A/N^alpha + B/D^beta", variables=("N", "D"))
    formula.coefficients                          # ("E", "A", "alpha", "B", "beta")
    formula(N=1e9, D=2e10, E=1.8, A=480, alpha=0.35, B=2100, beta=0.37)
    formula.gradient(...)                         # (..., 5): d L / d coefficients
    fit(formula.law(), {"N": N, "D": D}, loss)
    formula.javascript()                          # "(inputs) => ..."

What may be typed is said in `explorer.laws.syntax`, how a coefficient's limits follow from where it stands in
`explorer.laws.roles`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import BadInput
from explorer.laws.derivative import derivative, divide, multiply
from explorer.laws.javascript import source
from explorer.laws.law import Arrays, Law
from explorer.laws.program import Program
from explorer.laws.roles import coefficient, roles
from explorer.laws.syntax import fault, parse
from explorer.laws.tree import Name, write
from explorer.laws.typed_starts import TypedStarts

MOST_COEFFICIENTS = 12


class Formula:
    """A formula that was typed.

    Args:
        text: e.g. "E + A/N^alpha + B/D^beta"; `L =` may stand in front.
        variables: names of what is measured, e.g. a table's columns; every other name is a coefficient.

    Attributes:
        variables, coefficients: the names used, in order of first appearance.
        tree: what the text means; `str(formula)` writes it in its one usual form.
        notes: sentences on coefficients that look like misspelt variables.

    Raises:
        BadInput: the text is no formula, or it uses no variable, no coefficient or more than 12 of them.
    """

    def __init__(self, text: str, variables: Iterable[str]) -> None:
        self.text, offered = text, tuple(variables)
        self.tree, places = parse(text)
        self.variables = tuple(name for name in places if name in offered)
        self.coefficients = tuple(name for name in places if name not in offered)
        near = _near(self.coefficients, [name for name in offered if name not in self.variables])
        if not self.variables:
            name = next(iter(near or places), "")
            advice = f"write {near[name]} if {name} stands for it" if near else "name at least one of them"
            what = f"The formula uses none of the variables ({', '.join(offered) or 'there are none'})"
            raise fault(text, places.get(name, 0), f"{what}: {advice}")
        if not self.coefficients:
            raise fault(text, 0, "The formula has no coefficient to fit: every name in it is a variable")
        if len(self.coefficients) > MOST_COEFFICIENTS:
            name = self.coefficients[MOST_COEFFICIENTS]
            raise fault(text, places[name], f"The formula has more than {MOST_COEFFICIENTS} coefficients")
        self.notes = tuple(
            f"{name} is read as a coefficient, and the variable {variable} is not used: was {variable} meant?"
            for name, variable in near.items()
        )

    def __str__(self) -> str:
        return write(self.tree)

    def __repr__(self) -> str:
        return f"Formula({str(self)!r}, variables={self.variables!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, then the coefficients."""
        return self.variables + self.coefficients

    def __call__(self, /, **inputs: ArrayLike) -> np.ndarray:
        """The loss, float64, in the broadcast shape of the inputs: every variable and coefficient by name.

        Nothing warns: what overflows is infinite, what is undefined is NaN.

        Raises:
            BadInput: a name is missing or unknown.
        """
        return np.asarray(self._value(self._checked(inputs))[0])

    def gradient(self, /, **inputs: ArrayLike) -> np.ndarray:
        """d L / d coefficients, exact, with one more, last axis in the order of `coefficients`."""
        return _stacked(self._gradient, **self._checked(inputs))

    def hessian(self, /, **inputs: ArrayLike) -> np.ndarray:
        """d^2 L / d coefficients^2, exact, with two more, last axes in the order of `coefficients`."""
        flat = _stacked(self._hessian, **self._checked(inputs))
        return flat.reshape(*flat.shape[:-1], len(self.coefficients), len(self.coefficients))

    def javascript(self) -> str:
        """The source of a JavaScript function `(inputs) => Float64Array`, numbers as numpy's to 1e-12.

        `inputs` is an object with every variable and coefficient: a number, or an array of numbers of one
        length. The result has that length; 1 if all inputs are numbers.
        """
        return source(self.tree, self.names)

    def law(
        self,
        name: str = "typed",
        starts: Callable[[Arrays, np.ndarray, Mapping[str, float]], dict[str, np.ndarray]] | None = None,
    ) -> Law:
        """The formula as a law that `explorer.fitting.fit` fits.

        Args:
            name: of the law.
            starts: as `Law.starts`; `TypedStarts` if None.
        """
        each = roles(self.tree, self.variables)
        coefficients = [coefficient(key, role) for key, role in each.items()]
        slopes = []
        for one in coefficients:
            slope = derivative(self.tree, one.name)
            slopes.append(divide(multiply(Name(one.name), slope) if one.log else slope, self.tree))
        return Law(
            name=name,
            title=f"L = {self}",
            variables=self.variables,
            coefficients=tuple(coefficients),
            function=self,
            source="typed",
            validity="where it was fitted",
            log_jacobian=partial(_stacked, Program(slopes, self.names)),
            starts=starts or TypedStarts(self.tree, self.variables, each),
        )

    @cached_property
    def _value(self) -> Program:
        return Program([self.tree], self.names)

    @cached_property
    def _gradient(self) -> Program:
        return Program([derivative(self.tree, name) for name in self.coefficients], self.names)

    @cached_property
    def _hessian(self) -> Program:
        rows = [derivative(self.tree, name) for name in self.coefficients]
        return Program([derivative(row, name) for row in rows for name in self.coefficients], self.names)

    def _checked(self, inputs: dict[str, Any]) -> dict[str, Any]:
        if inputs.keys() != set(self.names):
            given = ", ".join(inputs) or "nothing"
            raise BadInput(f"The formula {self} was given {given}: give exactly {', '.join(self.names)}.")
        return inputs


def _stacked(program: Program, /, **inputs: ArrayLike) -> np.ndarray:
    """The program's values in the broadcast shape of the inputs, on a last axis."""
    values = program(inputs)
    shape = np.broadcast_shapes(*(np.shape(each) for each in inputs.values()))
    return np.stack([np.broadcast_to(value, shape) for value in values], axis=-1)


def _near(coefficients: Iterable[str], unused: list[str]) -> dict[str, str]:
    """For each coefficient that looks like it, the unused variable that may have been meant."""
    folded = {name.casefold(): name for name in unused}
    close = ((name, get_close_matches(name.casefold(), folded, 1, 0.8)) for name in coefficients)
    return {name: folded[found[0]] for name, found in close if found}
