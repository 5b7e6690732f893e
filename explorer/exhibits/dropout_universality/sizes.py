"""Arguments of `experiment` for each size; plain numbers, so that a page can read them without torch.

The regime is fixed here, before a run: few images, some of them with a wrong label, and enough epochs that a network
without dropout learns them by heart. A quick run takes three seeds at most and fewer epochs; it is over-fitted too.
"""

from __future__ import annotations

from typing import Any

QUICK_SEEDS = 3
DEEPEST = 16
"""Hidden layers beyond which a run would not end in its time."""

SCHEDULES: dict[str, dict[str, Any]] = {
    "quick": {"width": 96, "images": 300, "tested": 1_000, "batch": 50, "epochs": 90, "every": 3},
    "default": {"width": 96, "images": 300, "tested": 1_000, "batch": 50, "epochs": 120, "every": 3},
    "large": {"width": 512, "images": 500, "tested": 1_000, "batch": 50, "epochs": 120, "every": 3},
}

TRANSFORMER: dict[str, dict[str, Any]] = {
    "quick": {"width": 24, "depth": 4, "images": 100, "tested": 300, "batch": 25, "epochs": 60, "every": 6},
    "default": {
        "width": 24,
        "depth": 4,
        "images": 200,
        "tested": 500,
        "batch": 50,
        "epochs": 120,
        "every": 6,
    },
    "long": {
        "width": 24,
        "depth": 4,
        "images": 200,
        "tested": 1_000,
        "batch": 50,
        "epochs": 180,
        "every": 6,
    },
    "large": {
        "width": 64,
        "depth": 8,
        "images": 200,
        "tested": 1_000,
        "batch": 50,
        "epochs": 240,
        "every": 6,
    },
}
TRANSFORMER_SEEDS = {"quick": 3, "default": 4, "long": 5, "large": 16}

PROPAGATION: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 24, "pairs": 8},
    "default": {"seeds": 64, "pairs": 8},
    "large": {"seeds": 256, "pairs": 32},
}
