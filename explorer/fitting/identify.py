"""Which coefficients the points leave open, which of them stand in for each other, and what to measure next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.fitting.curvature import Curvature
from explorer.fitting.points import checked_labels
from explorer.fitting.problem import Problem

if TYPE_CHECKING:
    from explorer.fitting.solution import Fit

# Coefficients whose errors correlate above this are told to stand in for each other.
_TIED = 0.95
# Least part, of one, that a coefficient has in a direction to be named with it.
_TAKES_PART = 0.01
# How far beyond the measured range a next measurement is looked for, as factors of the end of the range.
_BEYOND = (3.0, 10.0)
# A next measurement is repeated so often, as a share of the points there are.
_SHARE = 0.1


@dataclass(frozen=True)
class Advice:
    """A next measurement and what it is good for.

    Args:
        place: the variables there.
        repeats: how many points there.
        cost: its compute over the largest measured; None where the law's variables do not tell.
        shrinks: the standard error of each coefficient afterwards, as a share of what it is now.
        sentence: in words.
    """

    place: dict[str, float]
    repeats: int
    cost: float | None
    shrinks: dict[str, float]
    sentence: str


@dataclass(frozen=True)
class Identification:
    """How far the points determine the coefficients.

    Args:
        errors: standard error of every fitted coefficient between its bounds; of a log coefficient that of its
            logarithm; infinite where the points do not fix it at all.
        correlations: of the errors, by pairs of names.
        tied: groups of coefficients that stand in for each other.
        flattest: one standard error along the combination that shows least in the fit: added to a coefficient, to
            the logarithm of a log coefficient. Infinite where nothing fixes it.
        sentences: in words, the flattest combination first.
        advice: measurements: the one that pins that combination best; then, if that one lies below the measured
            range, where the law may not hold, the best that does not.
    """

    errors: dict[str, float]
    correlations: dict[tuple[str, str], float]
    tied: tuple[tuple[str, ...], ...]
    flattest: dict[str, float]
    sentences: tuple[str, ...]
    advice: tuple[Advice, ...]

    def to_json(self) -> dict[str, Any]:
        """For `json.dumps`; a pair of names is joined by a space."""
        return {
            "errors": {name: _finite(value) for name, value in self.errors.items()},
            "correlations": {" ".join(pair): value for pair, value in self.correlations.items()},
            "tied": [list(group) for group in self.tied],
            "flattest": {name: _finite(value) for name, value in self.flattest.items()},
            "sentences": list(self.sentences),
            "advice": [vars(each) for each in self.advice],
        }


def identify(result: Fit, clusters: Any = None) -> Identification:
    """Says what the points leave open and what to measure next.

    The flattest combination is the direction of least curvature of the objective with every coefficient scaled to
    what it does to the fit alone: the coefficients that stand in for each other best.

    Args:
        result: what `fit` found.
        clusters: one label a point where errors go together.

    Raises:
        BadInput: there are no more points than coefficients, or labels are not one a point.
    """
    problem = result._problem
    curvature = Curvature(problem, result._minima[0])
    codes = None if clusters is None else checked_labels("clusters", clusters, len(problem))
    free = [c for c, inner in zip(problem.free, curvature.inner, strict=True) if inner]
    names = [c.name for c in free]
    covariance = curvature.covariance(codes)
    errors = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / errors[:, None] / errors
    pairs = {
        (a, b): float(correlation[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i < j
    }
    tied = _groups(names, correlation)
    strengths, directions = curvature.directions
    direction = directions[-1] / curvature.length
    direction = direction / np.linalg.norm(direction)
    unfixed = np.max(np.abs(curvature.unfixed), axis=0, initial=0.0) > _TAKES_PART
    if unfixed.any():
        errors = np.where(unfixed, np.inf, errors)
        step = np.where(unfixed, np.inf * np.sign(direction), 0.0)
        first = _unfixed_sentence([name for name, open_ in zip(names, unfixed, strict=True) if open_])
    else:
        scaled = directions[-1] * strengths[-1] ** 2 * curvature.length  # X'X direction, up to its norm
        step = direction * np.sqrt(scaled @ covariance @ scaled) / abs(direction @ scaled)
        step = step * np.sign(step[np.argmax(np.abs(step) * curvature.length)])
        first = _flat_sentence(free, step, curvature)
    return Identification(
        errors=dict(zip(names, errors.tolist(), strict=True)),
        correlations=pairs,
        tied=tied,
        flattest=dict(zip(names, step.tolist(), strict=True)),
        sentences=(first, *(_tied_sentence(group, pairs) for group in tied)),
        advice=_advice(problem, curvature, names, direction),
    )


def _groups(names: list[str], correlation: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Names joined through correlations above the limit."""
    label = list(range(len(names)))
    for i in range(len(names)):
        for j in range(i):
            if abs(correlation[i, j]) > _TIED:
                label = [label[i] if one == label[j] else one for one in label]
    groups = [tuple(n for n, one in zip(names, label, strict=True) if one == k) for k in sorted(set(label))]
    return tuple(group for group in groups if len(group) > 1)


def _unfixed_sentence(names: list[str]) -> str:
    if len(names) == 1:
        return f"These points do not fix {names[0]}: the fit is as good with other values."
    together = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"These points do not fix {together} separately: other combinations fit as well."


def _flat_sentence(free: list[Any], step: np.ndarray, curvature: Curvature) -> str:
    weight = np.abs(step) * curvature.length
    parts = []
    for k in np.argsort(-weight):
        if weight[k] < 0.15 * weight.max():
            continue
        if free[k].log:
            parts.append(f"{free[k].name} × {np.exp(np.clip(step[k], -300, 300)):.3g}")
        else:
            parts.append(f"{free[k].name} {'+' if step[k] > 0 else '−'} {abs(step[k]):.2g}")
    together = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"What shows least in the fit is {together} together: one standard error along that combination."


def _tied_sentence(group: tuple[str, ...], pairs: Mapping[tuple[str, str], float]) -> str:
    inside = [abs(value) for pair, value in pairs.items() if set(pair) <= set(group)]
    return (
        f"{', '.join(group[:-1])} and {group[-1]} stand in for each other (correlation up to {max(inside):.4f}): "
        "read what is made of them together, not one of them alone."
    )


def _advice(
    problem: Problem, curvature: Curvature, names: list[str], direction: np.ndarray
) -> tuple[Advice, ...]:
    places = _places(problem)
    if not places:
        return ()
    columns = {name: np.array([place[name] for place in places]) for name in problem.law.variables}
    moved = Problem(
        problem.law,
        columns,
        np.ones(len(places)),
        problem.penalty,
        problem.fixed,
        {c.name: (c.low, c.high) for c in problem.law.coefficients},
    )
    rows = moved.jacobian(curvature.theta[None])[0][:, curvature.inner]  # (places, q)
    repeats = max(1, round(_SHARE * len(problem.log_loss)))
    # In the basis where X'X is one, a place adds repeats f f' to it.
    f = rows @ curvature.root.T
    gain = repeats / (1 + repeats * np.sum(f**2, axis=1))
    after = np.sum(curvature.root**2, axis=0) - gain[:, None] * (f @ curvature.root) ** 2
    shrink = np.sqrt(np.maximum(after, 0.0) / np.sum(curvature.root**2, axis=0))  # (places, q)
    weight = np.abs(direction) * curvature.length
    score = np.prod(np.maximum(shrink, 1e-12) ** (weight**2 / np.sum(weight**2)), axis=1)
    compute = _compute(columns)
    largest = None if compute is None else _compute(problem.variables).max()  # type: ignore[union-attr]
    order = [int(k) for k in np.argsort(score)]
    smallest = {name: float(column.min()) / 1.001 for name, column in problem.variables.items()}
    inside = [k for k in order if all(places[k][name] > least for name, least in smallest.items())]
    chosen = order[:1] + [k for k in inside[:1] if k != order[0]]
    weakest = [names[k] for k in np.argsort(-weight) if weight[k] >= 0.15 * weight.max()]
    found = []
    for k in chosen:
        cost = None if compute is None else float(compute[k] / largest)
        shrinks = dict(zip(names, shrink[k].tolist(), strict=True))
        found.append(
            Advice(
                places[k],
                repeats,
                cost,
                shrinks,
                _advised(problem, places[k], repeats, cost, shrinks, weakest),
            )
        )
    return tuple(found)


def _places(problem: Problem) -> list[dict[str, float]]:
    """Corners of the measured range, and places beyond it in one variable at a time."""
    ends = {name: (column.min(), column.max()) for name, column in problem.variables.items()}
    middle = {name: float(np.exp(np.mean(np.log(column)))) for name, column in problem.variables.items()}
    found: list[dict[str, float]] = []
    for name in problem.law.variables:
        others = [other for other in problem.law.variables if other != name]
        bases: list[dict[str, float]] = [{}]
        for other in others:
            bases = [
                {**base, other: float(v)}
                for base in bases
                for v in (ends[other][0], middle[other], ends[other][1])
            ]
        low, high = ends[name]
        values = [low, high, *(high * factor for factor in _BEYOND), *(low / factor for factor in _BEYOND)]
        found += [{**base, name: float(value)} for base in bases for value in values]
    unique = {tuple(place[name] for name in problem.law.variables): place for place in found}
    kept = list(unique.values())
    if {"U", "D"} <= set(problem.law.variables):
        kept = [place for place in kept if place["U"] <= place["D"] * (1 + 1e-9)]
    return kept


def _compute(columns: Mapping[str, np.ndarray]) -> np.ndarray | None:
    if "C" in columns:
        return columns["C"]
    return 6 * columns["N"] * columns["D"] if {"N", "D"} <= columns.keys() else None


def _advised(
    problem: Problem,
    place: dict[str, float],
    repeats: int,
    cost: float | None,
    shrinks: dict[str, float],
    weakest: list[str],
) -> str:
    where = []
    for name, value in place.items():
        column = problem.variables[name]
        low, high = float(column.min()), float(column.max())
        if value > high * 1.001:
            where.append(f"{name} = {value:.2g}, {value / high:.3g} times the largest so far")
        elif value < low / 1.001:
            where.append(f"{name} = {value:.2g}, 1/{low / value:.3g} of the smallest so far")
        elif np.isclose(value, high) or np.isclose(value, low):
            word = "the largest so far" if np.isclose(value, high) else "the smallest so far"
            where.append(f"{name} = {value:.2g}, {word}")
        else:
            where.append(f"{name} = {value:.2g}")
    effect = ", ".join(f"of {name} to {shrinks[name]:.0%}" for name in weakest)
    below = any(value < float(problem.variables[name].min()) / 1.001 for name, value in place.items())
    doubt = " It helps only if the law still holds there." if below else ""
    price = "" if cost is None else f" A run there costs {cost:.2g} times the dearest so far."
    many = f"{repeats} more points" if repeats > 1 else "one more point"
    promise = f"{many} there would bring the error {effect} of what it is."
    return f"Measure next at {' and '.join(where)}: {promise}{price}{doubt}"


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
