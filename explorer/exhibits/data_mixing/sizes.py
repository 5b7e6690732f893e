"""Arguments of `experiment.run` for each size; plain numbers, so that a page can read them without torch.

The wide model is the held-out one, 3 to 6 times as large as the largest that is fitted. Steps are bounded by the
shortest domain, since nothing is read twice: the language reference has some 300,000 characters.
"""

from __future__ import annotations

from typing import Any

SIZES: dict[str, dict[str, Any]] = {
    "quick": {
        "widths": [16, 32],
        "target": 64,
        "seeds": 2,
        "steps": 200,
        "batch": 128,
        "held_out": 4,
        "evaluated": 2_048,
    },
    "default": {
        "widths": [16, 32],
        "target": 80,
        "seeds": 3,
        "steps": 540,
        "batch": 256,
        "held_out": 5,
        "evaluated": 4_096,
    },
    "large": {
        "widths": [16, 32, 64],
        "target": 256,
        "seeds": 6,
        "steps": 1_200,
        "batch": 256,
        "held_out": 20,
        "evaluated": 16_384,
    },
}
