"""A heat map under the curves of a figure: one image, its colours and their bar, replaced whole."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from bokeh.models import ColorBar, ColorMapper, ColumnDataSource, LinearColorMapper, LogColorMapper
from bokeh.palettes import Viridis256

from explorer.exhibits import Axis, FigureSpec, Surface
from widgets.number_text import tick_formatter


def _edges(centres: np.ndarray, scale: str) -> tuple[float, float]:
    """Where an image begins whose cells lie around `centres`, and how long it is."""
    place = np.log10(centres) if scale == "log" else np.asarray(centres, float)
    half = (place[-1] - place[0]) / (len(place) - 1) / 2 if len(place) > 1 else 0.5
    low, high = place[0] - half, place[-1] + half
    if scale == "log":
        low, high = 10.0**low, 10.0**high
    return float(low), float(high - low)


class SurfaceLayer:
    """The colours of one figure. Made with the plot, since a colour bar that comes later is not laid out."""

    def __init__(self, plot: Any, spec: FigureSpec) -> None:
        assert spec.z is not None
        self._spec = spec
        self._predicted: tuple[float, float] | None = None
        self._measured: list[float] = []
        self.colours = _mapper(spec.z)
        self.source = ColumnDataSource(data=_no_image(), name=f"{spec.name}-surface")
        image = plot.image(
            image="z", x="x", y="y", dw="w", dh="h", source=self.source, color_mapper=self.colours
        )
        image.level = "image"
        log = spec.z.scale == "log"
        self._bar = ColorBar(
            color_mapper=self.colours,
            title=spec.z.title,
            width=10,
            padding=4,
            title_text_font_style="normal",
            background_fill_alpha=0,
            **({"formatter": tick_formatter()} if log else {}),
        )
        plot.add_layout(self._bar, "right")

    def draw(self, surface: Surface | None) -> None:
        """Show this surface, or none."""
        finite = surface.z[np.isfinite(surface.z)] if surface is not None else np.empty(0)
        there = bool(len(finite))
        if self._bar.visible != there:
            self._bar.visible = there
        if surface is None or not there:
            self.source.data = _no_image()
            return
        self._predicted = float(finite.min()), float(finite.max())
        self._range()
        x, w = _edges(surface.x, self._spec.x.scale)
        y, h = _edges(surface.y, self._spec.y.scale)
        # Colours need no more digits, and half the bytes travel.
        self.source.data = {"z": [surface.z.astype(np.float32)], "x": [x], "y": [y], "w": [w], "h": [h]}

    def measure(self, values: Iterable[float]) -> None:
        """Let the colours reach as far as these measured numbers, in place of those before."""
        self._measured = [value for value in values if math.isfinite(value)]
        self._range()

    def _range(self) -> None:
        ends = [*(self._predicted or ()), *self._measured]
        if not ends:
            return
        low, high = min(ends), max(ends)
        if high <= low:
            high = low + 1e-9 + abs(low) * 1e-9
        if (self.colours.low, self.colours.high) != (low, high):
            self.colours.update(low=low, high=high)


def _no_image() -> dict[str, list[Any]]:
    return {name: [] for name in ("z", "x", "y", "w", "h")}


def _mapper(axis: Axis) -> ColorMapper:
    kind = LogColorMapper if axis.scale == "log" else LinearColorMapper
    # Low is good for a loss: dark to light as it rises, and nothing where there is no number.
    return kind(palette=list(Viridis256), low=0.1, high=1.0, nan_color="rgba(0, 0, 0, 0)")
