"""Arguments of the experiments for each size; plain numbers, so that a page can read them without torch.

What was tried before these were fixed, on seeds 0 to 2 of the prose, final losses over gamma:
width 16, 150 to 300 steps, and width 32, 240 to 300 steps, both at peak rates of 3e-4 to 3e-2; width 48, 300 steps, and
width 64, 400 steps, at 3e-4 to 6e-3. AdamW's own best rate at width 32 was 1e-2, and there MVR ended above it; at 3e-3
and width 32 it did not, at 3e-3 and width 64 it did. The rate's default is AdamW's best. Runs of up to 150 steps at a
tenth of it have hardly left the entropy of single characters, and MVR gains nothing there. The seeds start at 10: none
of those was looked at before. "large" reads the prose 40 times, the code 4 times: take the code there, or a text of
your own. It has not been run.
"""

from __future__ import annotations

import math
from typing import Any

GAMMAS = (0.0, 0.025, 0.1, 0.5, 1.0)

SIZES: dict[str, dict[str, Any]] = {
    "quick": {
        "width": 32,
        "batch": 4,
        "steps": 100,
        "gammas": [0.0, 0.025, 0.1, 1.0],
        "approximate": None,
        "rate_factor": 3.0,
        "checkpoints": 5,
        "evaluated": 64,
        "probes": 3,
        "minibatches": 8,
        "curved": 16,
        "iterations": 4,
    },
    "default": {
        "width": 32,
        "batch": 8,
        "steps": 240,
        "gammas": list(GAMMAS),
        "checkpoints": 7,
        "evaluated": 128,
        "minibatches": 12,
        "curved": 24,
        "iterations": 5,
    },
    "wide": {
        "width": 64,
        "batch": 8,
        "steps": 400,
        "gammas": list(GAMMAS),
        "checkpoints": 10,
        "evaluated": 256,
        "minibatches": 24,
        "curved": 32,
        "iterations": 8,
        "together": 6,
    },
    "large": {
        "width": 256,
        "batch": 64,
        "steps": 3_000,
        "gammas": [0.0, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0],
        "checkpoints": 12,
        "evaluated": 512,
        "minibatches": 24,
        "curved": 128,
        "iterations": 10,
        "together": 64,
    },
}

CHAIN_GAMMAS = (0.0, 0.025, 0.1, 0.25, 0.5, 1.0)
CHAIN_NOISES = (0.5, 2.0, 3.0)

CHAINS: dict[str, dict[str, Any]] = {
    "quick": {"chains": 5_000, "steps": 600},
    "default": {"chains": 20_000, "steps": 600},
    "large": {"chains": 100_000, "steps": 600},
}


def with_gamma(gammas: list[float], gamma: float) -> list[float]:
    """`gammas` with `gamma` among them: it takes the place of its nearest neighbour between 0 and 1."""
    if gamma in gammas:
        return gammas
    inside = [one for one in gammas if 0 < one < 1]
    nearest = min(inside, key=lambda one: abs(math.log(one / gamma)))
    return sorted([one for one in gammas if one != nearest] + [gamma])
