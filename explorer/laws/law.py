"""A law as an object: a plain function of arrays, with its variables and coefficients named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import BadInput

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Coefficient:
    """One number that makes a law predict.

    Args:
        name: keyword of the law's function, e.g. "alpha".
        default: a published value.
        low, high: the values it may take at all; a fit stays between them, ends included.
        log: whether a fit works in its logarithm (then `low` is above zero).
        label: how it is written on an axis or slider, e.g. "α".
        unit: its unit; "" for a pure number.
        doc: one sentence on what it means.
        usual: the narrower range that a slider offers; (low, high) if left out.
    """

    name: str
    default: float
    low: float
    high: float
    log: bool = False
    label: str = ""
    unit: str = ""
    doc: str = ""
    usual: tuple[float, float] | None = None

    @property
    def slider(self) -> tuple[float, float]:
        """The range that a slider offers."""
        return self.usual if self.usual is not None else (self.low, self.high)


@dataclass(frozen=True)
class Law:
    """A formula for the loss, with names.

    Args:
        name: key in the registry, e.g. "chinchilla".
        title: what a person reads.
        variables: the measured inputs in order, e.g. ("N", "D"), all above zero.
        coefficients: the fitted numbers, in the order of the last axis of `log_jacobian`.
        function: called with every variable and coefficient by keyword; arrays broadcast; returns the loss.
        source: paper and equation.
        validity: where the published fit holds.
        log_jacobian: called like `function`; returns d ln(loss) / d theta with one more, last axis over the
            coefficients, where theta is the coefficient's logarithm if it is a log coefficient and the
            coefficient itself otherwise. A fit differentiates numerically where this is missing.
        starts: rough coefficients to start a fit from: called with the variables (n,), the loss (n,) and the
            coefficients that are held fixed; returns one array of one length for every coefficient.
    """

    name: str
    title: str
    variables: tuple[str, ...]
    coefficients: tuple[Coefficient, ...]
    function: Callable[..., np.ndarray]
    source: str
    validity: str
    log_jacobian: Callable[..., np.ndarray] | None = None
    starts: Callable[[Arrays, np.ndarray, Mapping[str, float]], dict[str, np.ndarray]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The coefficients' names, in order."""
        return tuple(c.name for c in self.coefficients)

    @property
    def defaults(self) -> dict[str, float]:
        """The published default of every coefficient."""
        return {c.name: c.default for c in self.coefficients}

    def predict(self, variables: Mapping[str, ArrayLike], **coefficients: ArrayLike) -> np.ndarray:
        """The loss at `variables`, in the law's unit (nats per token for the laws of this package).

        Args:
            variables: one array for every name in `self.variables`.
            coefficients: one number or array for every name in `self.names`.

        Returns:
            an array of the common broadcast shape.

        Raises:
            BadInput: a name is missing or unknown, a value is not numeric, or the shapes do not broadcast.
        """
        _same_names(self.name, "variable", variables, self.variables)
        _same_names(self.name, "coefficient", coefficients, self.names)
        given = {**variables, **coefficients}
        arrays = {name: _numbers(self.name, name, value) for name, value in given.items()}
        try:
            np.broadcast_shapes(*(array.shape for array in arrays.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if array.ndim)
            raise BadInput(
                f"The law {self.name!r} was given arrays of shapes {shapes}, which do not broadcast: "
                "give arrays of one length, or single numbers."
            ) from None
        return np.asarray(self.function(**arrays), float)


def _same_names(law: str, kind: str, given: Iterable[str], expected: tuple[str, ...]) -> None:
    given = tuple(given)
    missing = [name for name in expected if name not in given]
    unknown = [name for name in given if name not in expected]
    if missing or unknown:
        fault = "; ".join(
            f"{what} {', '.join(names)}"
            for what, names in (("missing", missing), ("unknown", unknown))
            if names
        )
        raise BadInput(
            f"The law {law!r} was given the {kind}s {', '.join(given) or '(none)'} ({fault}); "
            f"give exactly {', '.join(expected)}."
        )


def _numbers(law: str, name: str, value: ArrayLike) -> np.ndarray:
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        raise BadInput(
            f"The law {law!r} was given {value!r} for {name}: give a number or an array of numbers."
        ) from None
