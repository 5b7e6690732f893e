"""Arguments of `experiment.run` for each size; plain numbers, so that a page can read them without torch.

The regime is fixed here, before a run. It goes back to an earlier ladder on the same text, whose held-out model
had width 128. Widths under 16 are left out: their output maps 16 or fewer numbers to 97 symbols, and this rank, not
the number of parameters, limits them. Checkpoints before `first_budget` are drawn but not fitted: the run is still
leaving its start. The target has at least 4 times the compute of the largest fitted model.
"""

from __future__ import annotations

from typing import Any

SIZES: dict[str, dict[str, Any]] = {
    "quick": {
        "model": "residual-mlp",
        "widths": [16, 32, 64],
        "target": 160,
        "seeds": 2,
        "steps": 640,
        "batch": 256,
        "first_budget": 70_000,
        "budgets": 7,
        "evaluated": 8_192,
    },
    "default": {
        "model": "residual-mlp",
        "widths": [16, 32, 64],
        "target": 160,
        "seeds": 3,
        "steps": 2_000,
        "batch": 256,
        "first_budget": 70_000,
        "budgets": 8,
    },
    "decoder": {
        "model": "decoder",
        "widths": [16, 32, 64],
        "target": 144,
        "seeds": 2,
        "steps": 1_600,
        "batch": 16,
        "first_budget": 300_000,
        "budgets": 8,
    },
    "large": {
        "model": "residual-mlp",
        "widths": [16, 32, 64, 128, 224],
        "target": 512,
        "seeds": 4,
        "steps": 12_000,
        "batch": 256,
        "first_budget": 140_000,
        "budgets": 10,
    },
}
