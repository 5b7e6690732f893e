"""What an interval is asked of: a coefficient, the loss at a place, or any number made of the coefficients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.problem import Problem, of_group, own_name
from explorer.laws import Law, allocation, overtraining

Asked = str | Mapping[str, Any] | Callable[..., Any]
"""A coefficient's name; variables at which the loss is asked; or a function of the coefficients by keyword."""


class Target:
    """One or many numbers as a function of the free coefficients, on a scale where they are about linear.

    Args:
        problem: the fit's.
        asked: a name, variables, or a function called with every coefficient as an array (K,) that returns (K,).
        theta: the optimum (p,); a number above zero there is taken in its logarithm.
        group: of a fit with groups, the one whose loss or coefficients are meant.

    Raises:
        BadInput: the name is unknown, the variables are not the law's, the function's result has another shape, or
            the group is none of the fit's.
    """

    def __init__(self, problem: Problem, asked: Asked, theta: np.ndarray, group: str | None = None) -> None:
        self.problem, self.group, law = problem, group, problem.law
        self.shape: tuple[int, ...] = ()
        self.log = True
        self.ends = (-np.inf, np.inf)  # what it can reach at all, on its own scale, as far as known
        if group is not None:
            self._coefficients(theta[None])
        if isinstance(asked, str):
            self.name, place = asked, self._place(asked)
            self.log = problem.free[place].log
            self.ends = (float(problem.low[place]), float(problem.high[place]))
            self._raw = lambda theta, which: problem.coefficients(theta)[problem.free[place].name]
        elif isinstance(asked, Mapping):
            law.predict(asked, **law.defaults)  # tells what is wrong with the variables
            if problem.own and group is None:
                of_group({}, problem.own, problem.labels, group)  # tells that there must be one
            columns = np.broadcast_arrays(*(np.asarray(asked[name], float) for name in law.variables))
            self.shape = columns[0].shape
            flat = {name: column.ravel() for name, column in zip(law.variables, columns, strict=True)}
            self.name = "loss"
            self._raw = lambda theta, which: law.function(
                **{name: column[which] for name, column in flat.items()}, **self._coefficients(theta)
            )
        else:
            self.name = getattr(asked, "__name__", "number").strip("<>")
            self._raw = lambda theta, which: _called(asked, self._coefficients(theta), len(theta))
            self.log = bool(self._raw(theta[None], np.zeros(1, int))[0] > 0)

    def _coefficients(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        found = self.problem.coefficients(theta)
        if self.group is None:
            return found
        return of_group(found, self.problem.own, self.problem.labels, self.group)

    def _place(self, name: str) -> int:
        """Where a coefficient stands in theta."""
        problem, law = self.problem, self.problem.law
        known = [c.name for c in problem.free]
        if self.group is not None and name in problem.own:
            name = own_name(name, str(self.group))
        if name in known:
            return known.index(name)
        if name in problem.fixed:
            raise BadInput(f"{name} was held at a value: an interval needs a fitted coefficient.")
        raise BadInput(
            f"The law {law.name!r} has no coefficient {name!r}: "
            f"choose from {', '.join(known)}, or give variables or a function."
        )

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def __call__(self, theta: np.ndarray, which: np.ndarray) -> np.ndarray:
        """The numbers (K,) numbered `which` (K,) at theta (K, p), on the target's own scale."""
        with np.errstate(all="ignore"):
            raw = np.asarray(self._raw(theta, which), float)
            return np.log(raw) if self.log else raw

    def told(self, values: np.ndarray) -> Any:
        """Values on the target's own scale (m,) as they are told: a float, or an array of the asked shape."""
        with np.errstate(over="ignore"):
            values = np.exp(values) if self.log else np.asarray(values, float)
        return float(values[0]) if self.shape == () else values.reshape(self.shape)


def optimal_parameters(law: Law, C: float, c: float = 6.0) -> Callable[..., np.ndarray]:
    """N* at compute C as a function of the law's coefficients, to be asked for an interval.

    Args:
        law: one whose best split of C = c N D has a closed form.
        C: FLOP.
        c: FLOP per parameter and token.

    Raises:
        BadInput: the law has no such form.
    """
    form = allocation_form(law)

    def N_star(**coefficients: np.ndarray) -> np.ndarray:
        return allocation.optimal_parameters(C, **form(coefficients), c=c)

    N_star.__name__ = f"N* at {C:.3g} FLOP"
    return N_star


def optimal_tokens(law: Law, C: float, c: float = 6.0) -> Callable[..., np.ndarray]:
    """D* at compute C; as `optimal_parameters`."""
    form = allocation_form(law)

    def D_star(**coefficients: np.ndarray) -> np.ndarray:
        return allocation.optimal_tokens(C, **form(coefficients), c=c)

    D_star.__name__ = f"D* at {C:.3g} FLOP"
    return D_star


def allocation_form(law: Law) -> Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]:
    """From the law's coefficients to A, B, alpha and beta of A / N^alpha + B / D^beta, which a split minimises.

    Raises:
        BadInput: the law's best split depends on more, or is not of this form.
    """
    if law.variables == ("N", "D") and {"A", "B", "alpha", "beta"} <= set(law.names):
        return _without_E
    if law.name == "over-training":
        return lambda k: _without_E(overtraining.chinchilla_coefficients(**k))
    if law.name == "kaplan":  # L^(1/alpha_D) = (N_c/N)^(alpha_N/alpha_D) + D_c/D
        return lambda k: {
            "A": np.exp(k["alpha_N"] / k["alpha_D"] * np.log(k["N_c"])),
            "B": k["D_c"],
            "alpha": k["alpha_N"] / k["alpha_D"],
            "beta": np.ones_like(k["D_c"]),
        }
    raise BadInput(
        f"The law {law.name!r} has no closed form for the best N and D: "
        "ask for a coefficient, for the loss at a place, or give a function of the coefficients."
    )


def _without_E(coefficients: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: coefficients[name] for name in ("A", "B", "alpha", "beta")}


def _called(function: Callable[..., Any], coefficients: dict[str, np.ndarray], count: int) -> np.ndarray:
    values = np.asarray(function(**coefficients), float)
    if values.shape != (count,):
        raise BadInput(
            f"The function returned shape {values.shape} for {count} sets of coefficients: return one number for each."
        )
    return values
