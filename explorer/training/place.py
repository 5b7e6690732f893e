"""The device that a training runs on."""

from __future__ import annotations

import torch

from explorer.errors import BadInput


def usable_device(name: str) -> torch.device:
    """The device called `name`, tried with one number. Raises BadInput if there is none."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as fault:
        raise BadInput(
            f"There is no usable device {name!r} here ({str(fault).splitlines()[0]}); choose 'cpu'."
        ) from None
    return device
