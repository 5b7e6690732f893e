"""Averaged weights: why every checkpoint of one constant-rate run counts as a model of its own.

At a constant rate the last iterate rattles around a better point; decaying the rate would settle it, but then
a run is an honest measurement at its last step only. Averaging the weights settles it too and costs nothing,
so that one run gives a whole curve L(N, D). The average must look back over the same share of every run, or
early and late checkpoints would not be comparable. An exponential average with a fixed horizon does not; this
one does:

    average <- average + (eta + 1) / (t + eta) (weights - average),   t = 1, 2, ...

After t steps the iterate of step s weighs about (s / t)^eta: mean age t / (eta + 2), which is the last tenth
of the run at eta = 8. At t = 1 the factor is 1, so the initial values leave no trace.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

ETA = 8


def averaging_factor(step: int, eta: float = ETA) -> float:
    """Share of the newest weights in the average after `step` steps (counted from 1)."""
    return (eta + 1) / (step + eta)


@torch.no_grad()
def average_into(averaged: Iterable[Tensor], weights: Iterable[Tensor], step: int, eta: float = ETA) -> None:
    """Moves `averaged` in place towards `weights` after training step `step` (counted from 1)."""
    torch._foreach_lerp_(list(averaged), list(weights), averaging_factor(step, eta))
