"""One figure of an exhibit: predicted curves in one source that is replaced whole when a slider moves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import (
    ColumnDataSource,
    CustomJSHover,
    FixedTicker,
    GlyphRenderer,
    HoverTool,
    Legend,
    LegendItem,
    Range1d,
)
from bokeh.plotting import figure as bokeh_figure
from panel.viewable import Viewer

from explorer.exhibits import Axis, Curve, Exhibit, FigureSpec, Surface
from widgets.number_text import WRITE_NUMBER_JS, tick_formatter
from widgets.palette import DASHES, EMPHASIS, distinct, sequential
from widgets.surface_layer import SurfaceLayer

CAPTION = ":host { font-size: 0.82rem; opacity: 0.8; }"
LEGEND_ROW = 24  # px
LEGEND_LETTERS = 52  # of one row of the legend under a plot in half a page's width


def shared_x(curves: Sequence[Curve]) -> list[int]:
    """For each curve the first one with the very same x array, so that a common grid travels once."""
    first: dict[int, int] = {}
    return [first.setdefault(id(curve.x), slot) for slot, curve in enumerate(curves)]


def pack(curves: Sequence[Curve]) -> dict[str, Any]:
    """Columns x0, y0, y1, x2, y2 ... of one length; shorter curves are filled with NaN.

    One dictionary of float64 columns travels to the browser as one binary message, however many curves it holds.
    """
    length = max((len(curve.x) for curve in curves), default=1)

    def filled(values: np.ndarray) -> np.ndarray:
        if len(values) == length:
            return values
        return np.concatenate([values, np.full(length - len(values), np.nan)])

    columns: dict[str, Any] = {}
    for slot, (curve, x_slot) in enumerate(zip(curves, shared_x(curves), strict=True)):
        if x_slot == slot:
            columns[f"x{slot}"] = filled(curve.x)
        columns[f"y{slot}"] = filled(curve.y)
        if curve.style == "bars":
            columns[f"base{slot}"] = filled(np.zeros(len(curve.x)) if curve.base is None else curve.base)
        elif curve.names:
            rest = length - len(curve.names)
            columns[f"name{slot}"] = [*curve.names, *[""] * rest]
            # Names stand by turns left and right of their dots, since neighbours are often close.
            columns[f"side{slot}"] = [("right", "left")[k % 2] for k in range(length)]
            columns[f"shift{slot}"] = [(-8, 8)[k % 2] for k in range(length)]
    return columns


def shape(curves: Sequence[Curve]) -> tuple[Any, ...]:
    """What decides the glyphs of a figure; while it stays the same only data has to move."""
    looks = tuple((c.key, bool(c.label), c.style, c.tone, c.emphasis, c.names) for c in curves)
    return (looks, tuple(shared_x(curves)))


def _range(axis: Axis) -> dict[str, Any]:
    if axis.low is not None and axis.high is not None:
        return {"start": axis.low, "end": axis.high}
    return {}


def blank_figure(spec: FigureSpec, height: int) -> Any:
    """A Bokeh figure with the axes, tools and hover of `spec` and nothing on it."""
    ranges = {
        f"{name}_range": Range1d(**limits)
        for name, axis in (("x", spec.x), ("y", spec.y))
        if (limits := _range(axis))
    }
    plot = bokeh_figure(
        title=spec.title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_type=spec.x.scale,
        y_axis_type=spec.y.scale,
        x_axis_label=spec.x.title,
        y_axis_label=spec.y.title,
        tools="pan,box_zoom,wheel_zoom,reset,save",
        active_drag=None,
        **ranges,
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.title.text_font_size = "14px"
    plot.min_border_right = 16
    for drawn, axis in ((plot.xaxis, spec.x), (plot.yaxis, spec.y)):
        drawn.axis_label_text_font_style = "normal"
        if axis.scale == "log":
            drawn.formatter = tick_formatter()
    if spec.plain:
        plot.axis.visible = False
        plot.grid.visible = False
        plot.outline_line_color = None
        plot.match_aspect = True
    return plot


def hover(spec: FigureSpec, renderer: GlyphRenderer, x: str, y: str, title: str) -> HoverTool:
    """Reads one renderer's values in the field's notation."""
    tips = [
        (title or " ", " "),
        (spec.x.label, f"@{{{x}}}{{custom}}"),
        (spec.y.label, f"@{{{y}}}{{custom}}"),
    ]
    if title.startswith("@"):
        tips[0] = ("", title)
    formats = {
        f"@{{{column}}}": CustomJSHover(code=f"{WRITE_NUMBER_JS}; return write(value)") for column in (x, y)
    }
    return HoverTool(renderers=[renderer], tooltips=tips, formatters=formats, visible=False)


def _name_of(curve: Curve, slot: int) -> str:
    """What a hover calls a point of this curve: its own name, or the curve's."""
    return f"@name{slot}" if curve.names and curve.style != "bars" else curve.key


class LawFigure(Viewer):
    """The predicted curves of one figure of an exhibit.

    `refresh()` reads the exhibit and replaces the data, if a slider that the figure needs has moved; glyphs are
    rebuilt only if curves come, go or change style.
    """

    def __init__(self, exhibit: Exhibit, name: str, height: int = 340, **params: Any) -> None:
        super().__init__(**params)
        self.exhibit = exhibit
        self.spec = exhibit.figures()[name]
        self._height = height
        self.plot = blank_figure(self.spec, height)
        self._surface = SurfaceLayer(self.plot, self.spec) if self.spec.z is not None else None
        self.source = ColumnDataSource(name=f"{name}-curves")
        self.legend = Legend(
            items=[],
            location="left",
            orientation="horizontal",
            background_fill_alpha=0,
            border_line_alpha=0,
            label_text_font_size="12px",
            glyph_width=16,
            spacing=4,
            padding=2,
            margin=0,
            click_policy="hide",
        )
        self.plot.add_layout(self.legend, "below")
        self._drawn_for: dict[str, Any] | None = None
        self._measured = False
        self._shape: tuple[Any, ...] | None = None
        self._renderers: list[GlyphRenderer] = []
        self._hovers: list[HoverTool] = []
        self._items: list[LegendItem] = []
        self._labels: list[str] = []
        self._pane = pn.pane.Bokeh(self.plot, sizing_mode="stretch_width", min_height=height)
        self._empty = pn.pane.Alert(
            self.spec.empty, alert_type="light", visible=False, sizing_mode="stretch_width", margin=(0, 10)
        )
        self.refresh()

    def refresh(self) -> None:
        """Draw the exhibit as its sliders stand."""
        needs = self.spec.needs
        wanted = {n: v for n, v in self.exhibit.values().items() if needs is None or n in needs}
        if wanted == self._drawn_for:
            return
        self._drawn_for = wanted
        drawn = self.exhibit.curves(self.spec.name)
        curves = [one for one in drawn if isinstance(one, Curve)]
        surface = next((one for one in drawn if isinstance(one, Surface)), None)
        if self._surface is not None:
            self._surface.draw(surface)
        if (now := shape(curves)) != self._shape:
            self._rebuild(curves)
            self._shape = now
        else:
            self.source.data = pack(curves)
            self._rename(curves)
        self.predicted = surface is not None or any(np.isfinite(curve.y).any() for curve in curves)
        self._say_if_empty()

    @property
    def colours(self) -> Any:
        """The colour mapper of the figure's z axis; None without one."""
        return self._surface.colours if self._surface is not None else None

    def colour_measured(self, values: Iterable[float]) -> None:
        """Let the colours reach as far as what was measured, beside what is predicted."""
        if self._surface is not None:
            self._surface.measure(values)

    @property
    def measured(self) -> bool:
        """Whether something measured is drawn over the curves."""
        return self._measured

    @measured.setter
    def measured(self, there: bool) -> None:
        self._measured = there
        self._say_if_empty()

    def _say_if_empty(self) -> None:
        nothing = not (self.predicted or self._measured)
        if self._empty.visible != nothing:
            self._empty.visible = nothing

    def _rename(self, curves: Sequence[Curve]) -> None:
        """Labels may hold a number that moves; only those that did are sent."""
        labels = [curve.label for curve in curves]
        if labels == self._labels:
            return
        for item, label in zip(self._items, filter(None, labels), strict=True):
            if item.label.value != label:
                item.label = {"value": label}
        self._labels = labels

    def _rebuild(self, curves: Sequence[Curve]) -> None:
        old = set(self._renderers) | set(self._hovers)
        self.plot.renderers = [r for r in self.plot.renderers if r not in old]
        self.plot.tools = [t for t in self.plot.tools if t not in old]
        self.source.data = pack(curves)
        xs = [f"x{slot}" for slot in shared_x(curves)]
        drawn = [self._draw(slot, x, curve) for slot, (x, curve) in enumerate(zip(xs, curves, strict=True))]
        self._renderers = [renderer for group in drawn for renderer in group]
        others = [item for item in self.legend.items if item not in self._items]
        self._items = [
            LegendItem(label=curve.label, renderers=group)
            for curve, group in zip(curves, drawn, strict=True)
            if curve.label
        ]
        self._labels = [curve.label for curve in curves]
        self.legend.items = [*self._items, *others]
        longest = max((len(curve.label) for curve in curves), default=0)
        self.legend.ncols = max(1, min(4, LEGEND_LETTERS // (longest + 5)))
        rows = math.ceil(len(self._items) / self.legend.ncols)
        # The legend takes nothing from the curves.
        self.plot.height = self._height + LEGEND_ROW * max(0, rows - 2)
        self._hovers = [
            hover(self.spec, group[0], x, f"y{slot}", _name_of(curve, slot))
            for slot, (x, curve, group) in enumerate(zip(xs, curves, drawn, strict=True))
        ]
        self.plot.add_tools(*self._hovers)
        self._name_bars(curves)

    def _name_bars(self, curves: Sequence[Curve]) -> None:
        """Put the names of bars under them."""
        names = next((curve.names for curve in curves if curve.style == "bars" and curve.names), ())
        if not names:
            return
        for axis in self.plot.xaxis:
            axis.ticker = FixedTicker(ticks=list(range(len(names))))
            axis.major_label_overrides = dict(enumerate(names))
            axis.major_label_orientation = 0.7 if sum(map(len, names)) > LEGEND_LETTERS else "horizontal"

    def _draw(self, slot: int, x: str, curve: Curve) -> list[GlyphRenderer]:
        colour = distinct(slot) if curve.tone is None else sequential(curve.tone)
        if curve.emphasis:
            colour = EMPHASIS
        keys: dict[str, Any] = {"x": x, "y": f"y{slot}", "source": self.source}
        if curve.style == "bars":
            spans = {"x": x, "top": f"y{slot}", "bottom": f"base{slot}", "source": self.source}
            return [self.plot.vbar(**spans, width=0.8, color=colour, fill_alpha=0.85, line_color="white")]
        if curve.style == "dots":
            size = 12 if curve.emphasis else 8
            drawn = [self.plot.scatter(**keys, size=size, color=colour, line_color="white")]
            if curve.names:
                words = {"text": f"name{slot}", "text_align": f"side{slot}", "x_offset": f"shift{slot}"}
                looks = {"text_font_size": "11px", "text_color": "#7A7A7A", "text_baseline": "middle"}
                drawn.append(self.plot.text(**keys, **words, **looks))
            return drawn
        width = 3 if curve.emphasis else 2
        return [self.plot.line(**keys, line_width=width, color=colour, line_dash=DASHES[curve.style])]

    def __panel__(self) -> pn.Column:
        caption = pn.pane.HTML(escape(self.spec.caption), stylesheets=[CAPTION], margin=(0, 10, 8, 10))
        return pn.Column(self._pane, self._empty, caption, sizing_mode="stretch_width", margin=0)
