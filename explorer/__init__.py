"""Scaling Explorer: predicted loss curves beside really trained tiny models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.exhibits import Exhibit

__all__ = ["load"]


def load(slug: str, **values: Any) -> Exhibit:
    """The exhibit called `slug` with sliders set, ready to predict and to train on this computer.

    Args:
        slug: as `scaling-explorer list` tells them.
        values: sliders by name, as numbers or as text (N="70B").

    Raises:
        BadInput: unknown exhibit or slider, or a value that cannot be used.
    """
    from explorer.lab import shared_lab

    return shared_lab().load(slug, **values)
