"""The objective of a fit and its derivatives, for many sets of coefficients at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.penalty import Huber, Penalty
from explorer.laws import Coefficient, Law


class Problem:
    """sum_i weight_i penalty(ln L_predicted,i - ln L_measured,i) over theta, the free coefficients.

    theta holds the logarithm of a log coefficient and any other coefficient itself. The objective is a SUM
    over points, as in Hoffmann et al. 2022, eq. 3: averaged, it would be so small that a solver stops early.

    Args:
        law: the law to fit.
        variables: its variables, (n,) each.
        loss: measured losses (n,).
        penalty: what a residual costs; a number is the threshold of a Huber loss.
        fixed: coefficients that are held.
        limits: (low, high) of every coefficient.
        weight: what a point counts, (n,); 1 if None.
        group: each point's group, codes 0, 1, ... (n,); one group if None.
        labels: the groups' names.
        own: coefficients of which each group has its own; theta has one entry a group, named E[label].
    """

    def __init__(
        self,
        law: Law,
        variables: Mapping[str, np.ndarray],
        loss: np.ndarray,
        penalty: Penalty | float,
        fixed: Mapping[str, float],
        limits: Mapping[str, tuple[float, float]],
        weight: np.ndarray | None = None,
        group: np.ndarray | None = None,
        labels: Sequence[str] = (),
        own: Sequence[str] = (),
    ) -> None:
        self.law, self.variables, self.fixed = law, dict(variables), dict(fixed)
        self.penalty = Huber(penalty) if isinstance(penalty, (int, float)) else penalty
        self.limits, self.group, self.labels, self.own = dict(limits), group, tuple(labels), tuple(own)
        self.loss, self.log_loss = loss, np.log(loss)
        self.weight = np.ones(len(loss)) if weight is None else weight
        self.free: list[Coefficient] = []
        self.columns: list[int] = []
        members = []
        # Where in theta each coefficient stands: one place, or one a group.
        self.places: dict[str, list[int]] = {}
        for column, coefficient in enumerate(law.coefficients):
            if coefficient.name in fixed:
                continue
            parts = range(len(self.labels)) if coefficient.name in own else (None,)
            for code in parts:
                self.places.setdefault(coefficient.name, []).append(len(self.free))
                name = coefficient.name if code is None else own_name(coefficient.name, self.labels[code])
                self.free.append(replace(coefficient, name=name))
                self.columns.append(column)
                members.append(np.ones(len(loss)) if code is None else np.asarray(group == code, float))
        self.member = np.stack(members, axis=-1) if own else None
        self.all_columns = self.columns == list(range(len(law.coefficients)))
        self.log = np.array([c.log for c in self.free])
        ends = np.array([limits[law.coefficients[column].name] for column in self.columns], float)
        self.low, self.high = self._to_theta(ends[:, 0]), self._to_theta(ends[:, 1])

    def __len__(self) -> int:
        return len(self.log_loss)

    def part(self, rows: np.ndarray) -> Problem:
        """The same problem on some of the points."""
        return Problem(
            self.law,
            {name: column[rows] for name, column in self.variables.items()},
            self.loss[rows],
            self.penalty,
            self.fixed,
            self.limits,
            self.weight[rows],
            None if self.group is None else self.group[rows],
            self.labels,
            self.own,
        )

    def pooled(self) -> Problem:
        """The same problem with the groups' own coefficients made common to all."""
        return Problem(
            self.law, self.variables, self.loss, self.penalty, self.fixed, self.limits, self.weight
        )

    def unpooled(self, pooled: np.ndarray) -> np.ndarray:
        """theta (K, p) of this problem from that of the pooled one: every group starts from the same."""
        names = [c for c in self.law.names if c not in self.fixed]
        theta = np.empty((len(pooled), len(self.free)))
        for k, name in enumerate(names):
            theta[:, self.places[name]] = pooled[:, [k]]
        return theta

    def _to_theta(self, values: np.ndarray) -> np.ndarray:
        return np.where(self.log, np.log(np.where(self.log, values, 1.0)), values)

    def theta(self, coefficients: Mapping[str, np.ndarray]) -> np.ndarray:
        """(K, p) from arrays (K,) of coefficients, moved within the limits; own ones may be given in common."""
        whole = [self.law.names[column] for column in self.columns]
        given = [
            coefficients[c.name] if c.name in coefficients else coefficients[name]
            for c, name in zip(self.free, whole, strict=True)
        ]
        values = np.stack([np.asarray(value, float) for value in given], axis=-1)
        return np.clip(self._to_theta(values), self.low, self.high)

    def coefficients(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Every coefficient, those held too, from theta (..., p): arrays of shape (...)."""
        values = self._values(theta)
        found: dict[str, np.ndarray] = {}
        for name in self.law.names:
            if name in self.fixed:
                found[name] = np.full(theta.shape[:-1], self.fixed[name])
            else:
                found.update({self.free[k].name: values[..., k] for k in self.places[name]})
        return found

    def residual(self, theta: np.ndarray) -> np.ndarray:
        """ln L_predicted - ln L_measured, (K, n), from theta (K, p)."""
        with np.errstate(all="ignore"):  # a trial step may go anywhere; the objective turns it down
            return np.log(self.law.function(**self._arguments(theta))) - self.log_loss

    def jacobian(self, theta: np.ndarray) -> np.ndarray:
        """d residual / d theta, (K, n, p), from theta (K, p)."""
        if self.law.log_jacobian is None:
            return self._differences(theta)
        with np.errstate(all="ignore"):
            whole = self.law.log_jacobian(**self._arguments(theta))
        chosen = whole if self.all_columns else whole[..., self.columns]
        return chosen if self.member is None else chosen * self.member

    def bend(self, theta: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """sum_i pull_i d2 residual_i / d theta2, (K, p, p), by central differences of the Jacobian."""
        count, p = theta.shape
        step = 1e-4 * np.maximum(np.abs(theta), 1.0)
        moves = step[:, :, None] * np.eye(p)
        moved = np.concatenate([theta[:, None] + moves, theta[:, None] - moves], axis=1).reshape(-1, p)
        gradient = (np.repeat(pull, 2 * p, axis=0)[:, None, :] @ self.jacobian(moved)).reshape(count, 2, p, p)
        bend = (gradient[:, 0] - gradient[:, 1]) / (2 * step[:, :, None])
        return 0.5 * (bend + np.swapaxes(bend, 1, 2))

    def cost(self, residual: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
        """The objective (K,) from residuals (K, n); infinity where one is not finite.

        Args:
            weight: what each point counts, on top of the problem's own weight; broadcasts to (K, n).
        """
        with np.errstate(all="ignore"):
            value = (self.penalty.value(residual, self.loss) * (self.weight * weight)).sum(axis=-1)
        return np.where(np.isfinite(value), value, np.inf)

    def objective(self, theta: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
        """The objective (K,) from theta (K, p); infinity where the law gives no finite loss."""
        return self.cost(self.residual(theta), weight)

    def _values(self, theta: np.ndarray) -> np.ndarray:
        return np.where(self.log, np.exp(np.where(self.log, theta, 0.0)), theta)

    def _arguments(self, theta: np.ndarray) -> dict[str, np.ndarray | float]:
        values = self._values(theta)
        arguments: dict[str, np.ndarray | float] = {**self.variables, **self.fixed}
        for name, places in self.places.items():
            own = name in self.own
            arguments[name] = values[:, places][:, self.group] if own else values[:, places[0], None]
        return arguments

    def _differences(self, theta: np.ndarray) -> np.ndarray:
        count, p = theta.shape
        step = 1e-6 * np.maximum(np.abs(theta), 1.0)
        moves = step[:, :, None] * np.eye(p)
        moved = np.concatenate([theta[:, None] + moves, theta[:, None] - moves], axis=1).reshape(-1, p)
        residual = self.residual(moved).reshape(count, 2, p, -1)
        return np.swapaxes((residual[:, 0] - residual[:, 1]) / (2 * step[:, :, None]), 1, 2)


def own_name(name: str, label: str) -> str:
    """What a coefficient is called that one group has for itself: E[c4]."""
    return f"{name}[{label}]"


def of_group(
    coefficients: Mapping[str, Any], own: Sequence[str], labels: Sequence[str], group: str | None
) -> dict[str, Any]:
    """The coefficients of the law itself, as one group has them; as they are where no coefficient is own.

    Raises:
        BadInput: `group` is none of the labels, or is given or missing where it must not be.
    """
    if not own:
        if group is not None:
            raise BadInput(f"group is {group!r}, but the fit has no groups: leave it out.")
        return dict(coefficients)
    if group is None or str(group) not in labels:
        raise BadInput(f"group is {group!r}: choose from {', '.join(labels)}.")
    others = {own_name(name, label) for name in own for label in labels}
    chosen = {name: value for name, value in coefficients.items() if name not in others}
    return chosen | {name: coefficients[own_name(name, str(group))] for name in own}
