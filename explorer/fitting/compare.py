"""Laws against each other on points they have not seen, and by what they cost in coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.agreement import paired_difference
from explorer.errors import BadInput
from explorer.fitting.budgets import budget_groups, compute
from explorer.fitting.points import checked_labels
from explorer.fitting.solution import Fit, fit
from explorer.laws import Law


@dataclass(frozen=True)
class Miss:
    """How far a law is from some points that it was not fitted to.

    Args:
        rms: root mean square of ln L_predicted - ln L_measured.
        bias: its mean: above zero where the law predicts too high a loss.
        points: how many.
    """

    rms: float
    bias: float
    points: int


@dataclass(frozen=True)
class Score:
    """One law's part in a comparison.

    Args:
        name: of the law as it was entered.
        fit: to all points.
        residual: (n,), ln L_predicted - ln L_measured of that fit.
        held_out: on the largest budgets, fitted to those below.
        held_out_residual: (h,) there, in the order of `Contest.held_out`.
        left_out: for every budget in order, of a fit to all others; None where the others did not determine a fit.
        aic, aicc, bic: of the fit to all points, by the likelihood whose maximum the objective's minimum is
            (see `log_likelihood`); lower is better, only differences matter.
    """

    name: str
    fit: Fit
    residual: np.ndarray
    held_out: Miss
    held_out_residual: np.ndarray
    left_out: tuple[Miss | None, ...]
    aic: float
    aicc: float
    bic: float

    @property
    def left_out_rms(self) -> float:
        """Over the points of all budgets, each predicted from the other budgets; nan if one could not be."""
        if any(miss is None for miss in self.left_out):
            return float("nan")
        known = [miss for miss in self.left_out if miss is not None]
        return float(np.sqrt(sum(m.rms**2 * m.points for m in known) / sum(m.points for m in known)))

    def to_json(self) -> dict[str, Any]:
        """For `json.dumps`, residuals too."""
        return {
            "name": self.name,
            "fit": self.fit.to_json(),
            "residual": self.residual.tolist(),
            "held_out": vars(self.held_out),
            "held_out_residual": self.held_out_residual.tolist(),
            "left_out": [miss and vars(miss) for miss in self.left_out],
            "left_out_rms": None if np.isnan(self.left_out_rms) else self.left_out_rms,
            "aic": self.aic,
            "aicc": self.aicc if np.isfinite(self.aicc) else None,
            "bic": self.bic,
        }


@dataclass(frozen=True)
class Contest:
    """Laws compared on the same points.

    Args:
        scores: one a law, the smallest held-out error first.
        budget: (n,), code of each point's budget, the smallest first.
        budgets: median compute of each budget, in FLOP.
        held_out: (h,), numbers of the held-out points.
        reach: the largest held-out compute over the largest fitted one.
        sentences: what may be said of it, the first on the hold-out, then one for each law behind the first.
    """

    scores: tuple[Score, ...]
    budget: np.ndarray
    budgets: tuple[float, ...]
    held_out: np.ndarray
    reach: float
    sentences: tuple[str, ...]

    def score(self, name: str) -> Score:
        """The score of the law entered as `name`; KeyError if there is none."""
        return {score.name: score for score in self.scores}[name]

    def to_json(self) -> dict[str, Any]:
        """For `json.dumps`."""
        return {
            "scores": [score.to_json() for score in self.scores],
            "budget": self.budget.tolist(),
            "budgets": list(self.budgets),
            "held_out": self.held_out.tolist(),
            "reach": self.reach,
            "sentences": list(self.sentences),
        }


def compare(
    laws: Sequence[Law] | Mapping[str, Law],
    variables: Mapping[str, Any],
    loss: Any,
    *,
    budget: Any = None,
    hold_out: int | None = None,
    delta: float = 1e-3,
    fixed: Mapping[str, Mapping[str, float]] | None = None,
) -> Contest:
    """Fits each law below the largest budgets and scores it there; then without each budget in turn.

    Args:
        laws: at least one; by name where one law enters in several forms.
        variables: columns (n,) of N, D and what else the laws need. Laws in C and M get C = 6 N D, M = D / N.
        loss: (n,), above zero.
        budget: compute of each point, or labels in the order of their median compute; 6 N D, grouped as
            `explorer.fitting.budgets.budget_groups` does, if None.
        hold_out: how many of the largest budgets are held out; as many as hold a tenth of the points if None.
        delta: of every fit.
        fixed: coefficients held, by the name under which a law enters.

    Raises:
        BadInput: a column is missing, there are fewer than two budgets left to fit, or a fit cannot be made.
    """
    entered = dict(laws) if isinstance(laws, Mapping) else {law.name: law for law in laws}
    if not entered:
        raise BadInput("No law was given: give at least one to compare.")
    columns = {name: np.asarray(column, float) for name, column in variables.items()}
    losses = np.asarray(loss, float)
    C = compute(columns) * np.ones(losses.shape)
    group = _groups(budget, C)
    count = int(group.max()) + 1
    if hold_out is None:
        from_top = np.cumsum(np.bincount(group)[::-1])
        hold_out = min(int(np.argmax(from_top >= max(0.1 * len(group), 3))) + 1, max(count - 2, 1))
    if int(hold_out) != hold_out or not 1 <= hold_out <= count - 2:
        raise BadInput(
            f"hold_out is {hold_out} of {count} budgets: hold out at least 1 and leave at least 2 to fit."
        )
    above = group >= count - hold_out
    scores = [
        _score(name, law, columns, losses, group, above, delta, dict((fixed or {}).get(name, {})))
        for name, law in entered.items()
    ]
    scores.sort(key=lambda score: score.held_out.rms)
    return Contest(
        scores=tuple(scores),
        budget=group,
        budgets=tuple(float(np.median(C[group == code])) for code in range(count)),
        held_out=np.flatnonzero(above),
        reach=float(C[above].max() / C[~above].max()),
        sentences=_sentences(scores, C, above),
    )


def columns_for(law: Law, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The law's own variables, made from N and D where it is written in C and M.

    Raises:
        BadInput: one is missing and cannot be made.
    """
    known = dict(columns)
    if {"N", "D"} <= known.keys():
        known.setdefault("C", 6 * known["N"] * known["D"])
        known.setdefault("M", known["D"] / known["N"])
    missing = [name for name in law.variables if name not in known]
    if missing:
        raise BadInput(
            f"The law {law.name!r} needs {', '.join(missing)} too: give the column, or leave the law out."
        )
    return {name: known[name] for name in law.variables}


def log_likelihood(residual: np.ndarray, delta: float) -> float:
    """ln likelihood of residuals of ln L under noise of density exp(-Huber_delta(r) / s) / Z(s), at the best s.

    For any scale s the coefficients that minimise the objective maximise this likelihood: Gaussian noise for a large
    delta, Laplace's for a small one. Z(s) = sqrt(2 pi s) erf(delta / sqrt(2 s)) + 2 s / delta exp(-delta^2 / (2 s)).
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import erf

    size = np.abs(residual)
    total = float(np.sum(np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))))
    mean = max(total / len(residual), 1e-300)

    def cost(log_s: float) -> float:
        s = mean * np.exp(log_s)
        # sqrt(2 pi s) erf(.) + 2 s / delta exp(.): both terms are safe for s from far below to far above delta^2.
        width = np.sqrt(2 * np.pi * s) * erf(delta / np.sqrt(2 * s)) + 2 * s / delta * np.exp(
            -(delta**2) / (2 * s)
        )
        return float(np.log(width) + mean / s)

    return -len(residual) * float(minimize_scalar(cost, bounds=(-3, 3), method="bounded").fun)


def _groups(budget: Any, C: np.ndarray) -> np.ndarray:
    if budget is None:
        return budget_groups(C)
    codes = checked_labels("budget", budget, len(C))
    order = np.argsort([np.median(C[codes == code]) for code in range(codes.max() + 1)])
    return np.argsort(order)[codes]


def _score(
    name: str,
    law: Law,
    columns: Mapping[str, np.ndarray],
    loss: np.ndarray,
    group: np.ndarray,
    above: np.ndarray,
    delta: float,
    fixed: dict[str, float],
) -> Score:
    own = columns_for(law, columns)
    own = {key: np.broadcast_to(column, loss.shape) for key, column in own.items()}

    def fitted(rows: np.ndarray) -> Fit:
        return fit(
            law, {key: column[rows] for key, column in own.items()}, loss[rows], delta=delta, fixed=fixed
        )

    def missed(found: Fit, rows: np.ndarray) -> np.ndarray:
        return np.log(found.predict({key: column[rows] for key, column in own.items()})) - np.log(loss[rows])

    whole = fitted(np.ones(len(loss), bool))
    ahead = missed(fitted(~above), above)
    left_out: list[Miss | None] = []
    for code in range(group.max() + 1):
        try:
            left_out.append(_miss(missed(fitted(group != code), group == code)))
        except BadInput:
            left_out.append(None)
    residual = missed(whole, np.ones(len(loss), bool))
    free, points = len(law.names) - len(fixed) + 1, len(loss)  # the noise's scale is fitted too
    twice = 2 * log_likelihood(residual, delta)
    correction = 2 * free * (free + 1) / (points - free - 1) if points > free + 1 else np.inf
    return Score(
        name=name,
        fit=whole,
        residual=residual,
        held_out=_miss(ahead),
        held_out_residual=ahead,
        left_out=tuple(left_out),
        aic=2 * free - twice,
        aicc=2 * free - twice + correction,
        bic=free * float(np.log(points)) - twice,
    )


def _miss(residual: np.ndarray) -> Miss:
    return Miss(float(np.sqrt(np.mean(residual**2))), float(np.mean(residual)), len(residual))


def _sentences(scores: list[Score], C: np.ndarray, above: np.ndarray) -> tuple[str, ...]:
    best = scores[0]
    side = "too high" if best.held_out.bias > 0 else "too low"
    told = [
        f"Fitted below {C[above].min():.3g} FLOP, {best.name} is closest on the {int(above.sum())} points from there "
        f"on: {best.held_out.rms:.2%} of the loss (root mean square), on average {abs(best.held_out.bias):.2%} {side}."
    ]
    for other in scores[1:]:
        pairs = [
            (a, b)
            for a, b in zip(best.left_out, other.left_out, strict=True)
            if a is not None and b is not None
        ]
        line = f"{other.name} misses them by {other.held_out.rms:.2%}"
        if len(pairs) < 3:
            told.append(f"{line}; too few budgets determine both to say more.")
            continue
        gap = paired_difference([a.rms for a, _ in pairs], [b.rms for _, b in pairs])
        low, high = gap.interval
        if low < 0 < high:
            verdict = "which is the better law is open"
        else:
            verdict = f"{best.name if gap.mean < 0 else other.name} is better there too"
        told.append(
            f"{line}; over {gap.seeds} budgets left out in turn {best.name} errs by {abs(gap.mean):.2%} "
            f"{'less' if gap.mean < 0 else 'more'} (90 % interval {low:.2%} to {high:.2%}): {verdict}."
        )
    return tuple(told)
