"""What an exhibit draws, as arrays: axes, curves and readouts. How it looks is the widgets' business."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Style = Literal["solid", "dashed", "dotted", "dots"]


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, its unit, its scale, and limits where they should not follow the data."""

    label: str
    unit: str = ""
    scale: Literal["linear", "log"] = "linear"
    low: float | None = None
    high: float | None = None

    @property
    def title(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True, eq=False)
class Curve:
    """One predicted curve: y over x, two float64 arrays of one length; NaN breaks the line.

    Args:
        key: unique within the figure, stable while sliders move.
        label: what the legend says; empty keeps it out of the legend.
        style: solid (predicted), dashed (sealed or reference), dotted (baseline), dots (marked points).
        tone: place in [0, 1] on a sequential palette, for ordered families; None takes the next distinct colour.
        names: one text a point, for dots that carry a name.
    """

    key: str
    label: str
    x: np.ndarray
    y: np.ndarray
    style: Style = "solid"
    tone: float | None = None
    emphasis: bool = False
    names: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Readout:
    """One number beside the figures; `text` replaces the number where words say it better."""

    label: str
    value: float | None = None
    unit: str = ""
    text: str = ""
    doc: str = ""
