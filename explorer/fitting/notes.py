"""What a reader should know before trusting fitted coefficients, in plain sentences."""

from __future__ import annotations

import numpy as np

from explorer.fitting.problem import Problem

# Ratio of the least to the greatest singular value of the scaled Jacobian below which coefficients trade off
# so completely that a change of any of them tenfold or so would not show in the fit.
_UNIDENTIFIED = 1e-6
# Root mean square of ln L above which no published fit of such a law lies.
_MISFIT = 0.1


def notes_on(problem: Problem, theta: np.ndarray) -> tuple[str, ...]:
    """Sentences on the optimum theta (p,): coefficients at a bound, too few levels, no unique optimum."""
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
                notes.append(
                    f"{coefficient.name} lies at its {side} bound {bound:.4g}: "
                    "the points ask for a value beyond."
                )
    for name in problem.law.variables:
        levels = len(np.unique(problem.variables[name]))
        if levels < 3:
            word = "value" if levels == 1 else "values"
            notes.append(f"{name} takes only {levels} {word}: too few to tell its power law from a constant.")
    points = len(problem.log_loss)
    if points == len(problem.free):
        notes.append(
            f"There are as many points as fitted coefficients ({points}): the fit has no error to show."
        )
    jacobian = problem.jacobian(theta[None])[0]
    jacobian = jacobian / np.maximum(np.sqrt(np.sum(jacobian**2, axis=0)), 1e-300)
    _, strength, directions = np.linalg.svd(jacobian, full_matrices=False)
    if strength[-1] < _UNIDENTIFIED * strength[0]:
        moving = [c.name for c, x in zip(problem.free, directions[-1], strict=True) if abs(x) > 0.1]
        if len(moving) == 1:
            notes.append(f"These points do not fix {moving[0]}: the fit is as good with other values.")
        else:
            notes.append(
                f"These points do not fix {', '.join(moving)} separately: "
                "the fit is as good with other combinations of them."
            )
    misfit = float(np.sqrt(np.mean(problem.residual(theta[None])[0] ** 2)))
    if misfit > _MISFIT:
        notes.append(
            f"The law misses these points by {misfit:.0%} (root mean square of ln L): they may come from several "
            "data sets, hold runs that failed, or follow another law."
        )
    return tuple(notes)
