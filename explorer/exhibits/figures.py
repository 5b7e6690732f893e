"""What an exhibit draws, as arrays: axes, curves, surfaces, readouts, tables. How it looks is the widgets' business."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from explorer.exhibits.twin import Twin

Style = Literal["solid", "dashed", "dotted", "dots", "bars"]


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
        style: solid (predicted), dashed (sealed or reference), dotted (baseline), dots (marked points), bars (x are
            places 0, 1, 2 ...).
        tone: place in [0, 1] on a sequential palette, for ordered families; None takes the next distinct colour.
        names: one text a point, for dots that carry a name and for what stands under bars.
        base: where each bar starts, so that bars can stack; zero by default.
        twin: the same as a formula of sliders, where there is one.
    """

    key: str
    label: str
    x: np.ndarray
    y: np.ndarray
    style: Style = "solid"
    tone: float | None = None
    emphasis: bool = False
    names: tuple[str, ...] = field(default=())
    base: np.ndarray | None = None
    twin: Twin | None = None


@dataclass(frozen=True, eq=False)
class Surface:
    """A number over a plane, drawn as a heat map under the curves; NaN is left out.

    Args:
        key: unique within the figure.
        x: (nx,) float64, evenly spaced on the figure's x axis (in the logarithm on a log axis).
        y: (ny,) float64, the same on the y axis.
        z: (ny, nx) float64, on the figure's colour axis z.
    """

    key: str
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray


@dataclass(frozen=True)
class Readout:
    """One number beside the figures; `text` replaces the number where words say it better."""

    label: str
    value: float | None = None
    unit: str = ""
    text: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Table:
    """Numbers that a run measured and that are reported, not judged.

    Args:
        title: what is listed.
        columns: their heads.
        rows: numbers or texts, one a column.
        note: one sentence under it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    note: str = ""
