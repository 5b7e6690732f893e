"""The wild bootstrap: the points stay where they were measured, their errors change sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import BadInput
from explorer.fitting.bootstrap import Ensemble
from explorer.fitting.curvature import Curvature
from explorer.fitting.profile import checked_clusters
from explorer.fitting.refit import refit

if TYPE_CHECKING:
    from explorer.fitting.solution import Fit


def wild(result: Fit, n: int = 400, clusters: Any = None, seed: int = 0) -> Ensemble:
    """The law fitted again to its own curve plus the errors, each with a sign drawn by lot.

    Unlike drawing points with replacement it keeps the design, so that no N or D ever goes missing, and it allows
    for noise of a size of its own at every point. The errors are those that the points would have had if they (or
    their cluster) had not been fitted: fitted residuals are too small, those of a few runs by far.

    Args:
        result: what `fit` found.
        n: refits.
        clusters: one label a point where errors go together; they then change sign together.
        seed: of the signs.

    Raises:
        BadInput: `n` is below 1, labels are not one a point or all the same, or there are no more points than
            coefficients.
    """
    if int(n) != n or n < 1:
        raise BadInput(f"n is {n}: give a whole number of refits, at least 1.")
    problem, theta = result._problem, result._minima[0]
    codes = checked_clusters(clusters, len(problem))
    error = Curvature(problem, theta).left_out(codes)
    group = np.arange(len(problem)) if codes is None else codes
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(int(n), group.max() + 1))[:, group]
    curve = problem.log_loss + problem.residual(theta[None])[0]
    # The error is measured minus predicted, so minus the residual; with a random sign that makes no difference.
    found, value = refit(problem, np.tile(theta, (int(n), 1)), measured=curve + signs * error)
    return Ensemble(problem.law, problem.coefficients(found), value, own=problem.own, groups=problem.labels)
