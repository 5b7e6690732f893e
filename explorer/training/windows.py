"""Windows of a text and the order in which they are shown."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.errors import BadInput

_APART = 1_000_003  # keeps an order's generator apart from that of initial values


def cut(ids: np.ndarray, context: int, stride: int, device: torch.device | str) -> Tensor:
    """All windows (n, context + 1) of token ids, `stride` apart, without a copy.

    Raises:
        BadInput: the text is shorter than one window.
    """
    if len(ids) <= context:
        raise BadInput(
            f"The text has a part of {len(ids):,} tokens; a window of this model needs {context + 1}."
        )
    return torch.from_numpy(ids).to(device).unfold(0, context + 1, stride)


def evenly(windows: Tensor, count: int) -> Tensor:
    """`count` windows, spread evenly; all of them if there are no more."""
    chosen = np.linspace(0, len(windows) - 1, min(count, len(windows))).astype(int)
    return windows[torch.from_numpy(chosen).to(windows.device)]


def order(seed: int, windows: int, wanted: int) -> Tensor:
    """`wanted` window numbers in the order of this seed: pass after pass, each in an order of its own.

    A longer run starts like a shorter one.
    """
    generator = torch.Generator().manual_seed(seed + _APART)
    passes = [torch.randperm(windows, generator=generator) for _ in range(-(-wanted // windows))]
    return torch.cat(passes)[:wanted] if passes else torch.empty(0, dtype=torch.int64)
