"""What a reader should know before trusting a fit: named notes, each of a severity, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.budgets import budget_groups, compute
from explorer.fitting.curvature import UNIDENTIFIED, Curvature
from explorer.fitting.problem import Problem
from explorer.fitting.target import allocation_form
from explorer.laws import allocation

if TYPE_CHECKING:
    from explorer.fitting.solution import Fit

Severity = Literal["info", "caution", "serious"]

# Root mean square of ln L above which no published fit of such a law lies.
_MISFIT = 0.1
# What a test of lack of fit may say of a right law by chance.
_CHANCE = 0.01
# Points below which a test of runs says nothing.
_FEW = 15
# A coefficient is told to be loose if it is known only within this factor, or an exponent within this share.
_LOOSE_FACTOR, _LOOSE_SHARE = 3.0, 0.5
# Factors beyond the measured range up to which a prediction is of the severity named.
_NEAR, _FAR = 10.0, 100.0


class Note(str):
    """Something to know of a fit: its sentence, with a name and a severity.

    Args:
        name: what it is about, one of a few words: bound, levels, saturated, unidentified, loose, misfit,
            lack-of-fit, optimum-outside, extrapolation; of an interval few-degrees, open-end, lower-minimum.
        severity: info to know, caution where numbers need care, serious where they should not be used.
        sentence: for people; the note itself, as text.
    """

    __slots__ = ("name", "severity")
    name: str
    severity: Severity

    def __new__(cls, name: str, severity: Severity, sentence: str) -> Note:
        note = super().__new__(cls, sentence)
        note.name, note.severity = name, severity
        return note

    def __getnewargs__(self) -> tuple[str, Severity, str]:  # type: ignore[override]
        return (self.name, self.severity, self.sentence)

    @property
    def sentence(self) -> str:
        """The text alone."""
        return str.__str__(self)

    def to_json(self) -> dict[str, str]:
        """For `json.dumps`."""
        return {"name": self.name, "severity": self.severity, "sentence": self.sentence}


def notes_on(problem: Problem, theta: np.ndarray) -> tuple[Note, ...]:
    """Notes on the optimum theta (p,), the serious ones first."""
    notes = [
        *_at_bounds(problem, theta),
        *_few_levels(problem),
        *_saturated(problem),
        *_open_directions(problem, theta),
        *_misfit(problem, theta),
        *_optimum_outside(problem, theta),
    ]
    order = ("serious", "caution", "info")
    return tuple(sorted(notes, key=lambda note: order.index(note.severity)))


def notes_at(result: Fit, variables: Mapping[str, Any]) -> tuple[Note, ...]:
    """Notes on a prediction at `variables`: how far they are from what was fitted; none inside the range.

    Args:
        result: what `fit` found.
        variables: numbers or arrays, of which the furthest counts.

    Raises:
        BadInput: the variables are not the law's.
    """
    result.law.predict(variables, **result.law.defaults)  # tells what is wrong with them
    measured = dict(result._problem.variables)
    asked = {name: np.atleast_1d(np.asarray(column, float)) for name, column in variables.items()}
    with suppress(BadInput):  # a law may be written without compute
        measured["the compute"], asked["the compute"] = compute(measured), np.atleast_1d(compute(asked))
    measured.pop("C", None)
    worst, sentence = 1.0, ""
    for name, column in measured.items():
        low, high = float(column.min()), float(column.max())
        value = asked["C" if name not in asked else name]
        for factor, where in ((value.max() / high, "largest"), (low / value.min(), "smallest")):
            if factor > worst * (1 + 1e-9):
                way = (
                    f"{factor:.3g} times the largest"
                    if where == "largest"
                    else f"1/{factor:.3g} of the smallest"
                )
                worst, sentence = float(factor), f"{name} is {way} that was fitted"
    if not sentence:
        return ()
    severity: Severity = "info" if worst <= _NEAR else "caution" if worst <= _FAR else "serious"
    tail = {
        "info": "the law may bend.",
        "caution": "the interval holds only if the law does.",
        "serious": "take the prediction for a guess.",
    }[severity]
    return (Note("extrapolation", severity, f"{sentence[0].upper()}{sentence[1:]}: {tail}"),)


def _at_bounds(problem: Problem, theta: np.ndarray) -> list[Note]:
    notes = []
    ends = problem.coefficients(np.stack([problem.low, problem.high]))
    for k, coefficient in enumerate(problem.free):
        span = 1e-9 * (problem.high[k] - problem.low[k])
        for side, end, gap in (
            ("lower", 0, theta[k] - problem.low[k]),
            ("upper", 1, problem.high[k] - theta[k]),
        ):
            if gap <= span:
                bound = ends[coefficient.name][end]
                where = f"{coefficient.name} lies at its {side} bound {bound:.4g}"
                sentence = f"{where}: the points ask for a value beyond."
                notes.append(Note("bound", "serious", sentence))
    return notes


def _few_levels(problem: Problem) -> list[Note]:
    notes = []
    for name in problem.law.variables:
        levels = len(np.unique(problem.variables[name]))
        if levels < 3:
            word = "value" if levels == 1 else "values"
            sentence = f"{name} takes only {levels} {word}: too few to tell its power law from a constant."
            notes.append(Note("levels", "serious" if levels == 1 else "caution", sentence))
    return notes


def _saturated(problem: Problem) -> list[Note]:
    points = len(problem.log_loss)
    if points > len(problem.free):
        return []
    sentence = f"There are as many points as fitted coefficients ({points}): the fit has no error to show."
    return [Note("saturated", "serious", sentence)]


def _open_directions(problem: Problem, theta: np.ndarray) -> list[Note]:
    jacobian = problem.jacobian(theta[None])[0]
    jacobian = jacobian / np.maximum(np.sqrt(np.sum(jacobian**2, axis=0)), 1e-300)
    _, strength, directions = np.linalg.svd(jacobian, full_matrices=False)
    if strength[-1] < UNIDENTIFIED * strength[0]:
        flat = np.max(np.abs(directions[strength < UNIDENTIFIED * strength[0]]), axis=0)
        moving = [c.name for c, x in zip(problem.free, flat, strict=True) if x > 0.01]
        if len(moving) == 1:
            sentence = f"These points do not fix {moving[0]}: the fit is as good with other values."
        else:
            sentence = (
                f"These points do not fix {', '.join(moving)} separately: "
                "the fit is as good with other combinations of them."
            )
        return [Note("unidentified", "serious", sentence)]
    return _loose(problem, theta)


def _loose(problem: Problem, theta: np.ndarray) -> list[Note]:
    """Coefficients that are known only roughly, each with the one that makes up for it."""
    if len(problem.log_loss) <= len(theta):
        return []
    curvature = Curvature(problem, theta)
    free = [c for c, inner in zip(problem.free, curvature.inner, strict=True) if inner]
    covariance = curvature.covariance()
    reach = 1.645 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    told = []
    for k, coefficient in enumerate(free):
        if coefficient.log and reach[k] > math.log(_LOOSE_FACTOR):
            told.append(f"{coefficient.name} only within a factor of {math.exp(min(reach[k], 99)):.2g}")
        value = abs(theta[curvature.inner][k])
        if not coefficient.log and reach[k] > _LOOSE_SHARE * value:
            told.append(f"{coefficient.name} only to ± {reach[k]:.2g}")
    if not told:
        return []
    return [
        Note("loose", "caution", f"The points fix {', '.join(told)} (90 %); other numbers may be sharper.")
    ]


def _misfit(problem: Problem, theta: np.ndarray) -> list[Note]:
    residual = problem.residual(theta[None])[0]
    misfit = float(np.sqrt(np.mean(residual**2)))
    if misfit > _MISFIT:
        sentence = (
            f"The law misses these points by {misfit:.0%} (root mean square of ln L): they may come from several "
            "data sets, hold runs that failed, or follow another law."
        )
        return [Note("misfit", "serious", sentence)]
    return _lack_of_fit(problem, residual)


def _lack_of_fit(problem: Problem, residual: np.ndarray) -> list[Note]:
    """By the scatter of points measured more than once, else by residuals of one sign in a row."""
    columns = np.stack([problem.variables[name] for name in problem.law.variables], axis=1)
    _, place = np.unique(columns, axis=0, return_inverse=True)
    place = place.ravel()
    places, points = place.max() + 1, len(residual)
    if points - places >= 3 and places > len(problem.free):
        from scipy.special import fdtrc

        mean = np.bincount(place, residual) / np.bincount(place)
        own = float(np.sum((residual - mean[place]) ** 2)) / (points - places)
        between = float(np.sum(mean[place] ** 2)) / (places - len(problem.free))
        if own > 0 and fdtrc(places - len(problem.free), points - places, between / own) < _CHANCE:
            sentence = (
                f"Points measured more than once scatter by {math.sqrt(own):.2%}, but the law misses their means by "
                f"more than that explains ({math.sqrt(between):.2%} in the same measure): it is not quite the law, or "
                "the points of a place share errors."
            )
            return [Note("lack-of-fit", "caution", sentence)]
        return []
    if points < _FEW:
        return []
    ways = {name: problem.variables[name] for name in problem.law.variables}
    ways["the loss"] = problem.log_loss + residual
    for name, values in ways.items():
        order = np.lexsort([*columns.T, values])
        if _runs_chance(residual[order]) < _CHANCE / len(ways):
            sentence = (
                f"In order of {name}, points above and below the law come in long rows: the law bends otherwise than "
                "the points there, or neighbours share errors (checkpoints of one run do)."
            )
            return [Note("lack-of-fit", "caution", sentence)]
    return []


def _runs_chance(residual: np.ndarray) -> float:
    """Chance of so few runs of one sign, or fewer, in an order that does not matter (Wald and Wolfowitz 1940)."""
    above = residual > 0
    a, b = int(above.sum()), int((~above).sum())
    if min(a, b) < 3:
        return 1.0
    runs = 1 + int(np.sum(above[1:] != above[:-1]))
    mean = 2 * a * b / (a + b) + 1
    spread = math.sqrt((mean - 1) * (mean - 2) / (a + b - 1))
    return 0.5 * math.erfc((mean - runs - 0.5) / spread / math.sqrt(2))


def _optimum_outside(problem: Problem, theta: np.ndarray) -> list[Note]:
    """Whether the best N of most budgets lies beyond every N that was tried at that budget."""
    if problem.own:  # each group has a best N of its own
        return []
    try:
        form = allocation_form(problem.law)
        C = compute(problem.variables)
    except BadInput:
        return []
    try:
        coefficients = form({name: value[0] for name, value in problem.coefficients(theta[None]).items()})
    except KeyError:  # every group has an optimum of its own
        return []
    N = problem.variables["N"] if "N" in problem.variables else np.sqrt(C / (6 * problem.variables["M"]))
    with np.errstate(all="ignore"):
        off = np.log(allocation.optimal_parameters(C, **coefficients)) - np.log(N)
    group = budget_groups(C)
    budgets = [off[group == code] for code in range(group.max() + 1)]
    budgets = [one for one in budgets if len(one) >= 3]
    above, below = (sum(bool((side * one > 1e-3).all()) for one in budgets) for side in (1, -1))
    if max(above, below) * 2 <= len(budgets):
        return []
    word = "larger" if above > below else "smaller"
    sentence = (
        f"At {max(above, below)} of {len(budgets)} budgets the best N is {word} than every N that was tried there: "
        "the optimum is not measured but extrapolated."
    )
    return [Note("optimum-outside", "caution", sentence)]
