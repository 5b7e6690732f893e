"""Measured points and sealed predictions, drawn over one figure of an exhibit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, LegendItem

from explorer.lab import SLIDERS
from explorer.records import PredictedCurve, Prediction, Series
from widgets.law_figure import LawFigure, hover
from widgets.palette import DASHES, ColourOf

MOST_POINTS = 2000  # of a series: what is drawn is thinned, what is stored is whole
COLUMNS = ("x", "y", "series", "label", "colour")
LONG = 24  # letters of a label, two of which do not stand side by side
VALUE = "value"  # the label whose number colours a series on a figure with a colour axis

Triple = tuple[str, float, float]


class MeasuredLayer:
    """What one run measured, over the curves of `target`."""

    def __init__(self, target: LawFigure) -> None:
        self.figure = target
        name = target.spec.name
        target.legend.ncols = 2  # conditions have long names, and a phone shows two
        self._columns = (*COLUMNS, VALUE) if target.colours is not None else COLUMNS
        self.points = ColumnDataSource(data=self._no_rows(), name=f"{name}-measured")
        looks: dict[str, Any] = {"color": "colour", "fill_alpha": 0.45, "line_alpha": 0.9, "size": 7}
        if target.colours is not None:
            fill = {"field": VALUE, "transform": target.colours}
            looks = {"fill_color": fill, "line_color": "white", "line_width": 2, "size": 12}
        self._dots = target.plot.scatter("x", "y", source=self.points, **looks)
        target.plot.add_tools(hover(target.spec, self._dots, "x", "y", "@series"))
        self._legend_item = LegendItem(label={"field": "label"}, renderers=[self._dots])
        # Made with the plot: an annotation that is added to a drawn plot has no view yet when it is first laid out.
        self._shade = BoxAnnotation(
            left=None, right=None, fill_alpha=0.05, fill_color="#0072B2", visible=False
        )
        target.plot.add_layout(self._shade)
        self._sealed: list[Any] = []

    def _no_rows(self) -> dict[str, list[Any]]:
        """Empty columns; new lists each time, since a source grows those it is given."""
        return {name: [] for name in self._columns}

    def clear(self) -> None:
        """Take everything of a run away."""
        gone, plot = set(self._sealed), self.figure.plot
        plot.renderers = [one for one in plot.renderers if one not in gone]
        self.figure.legend.items = [
            one for one in self.figure.legend.items if one not in gone and one is not self._legend_item
        ]
        self._sealed = []
        self._shade.visible = False
        self.points.data = self._no_rows()
        self.figure.colour_measured(())
        self.figure.measured = False

    def add(self, series: Mapping[str, Series], points: Iterable[Triple], colour: ColourOf) -> int:
        """Draw those points (series, x, y) that belong on this figure; how many they were."""
        rows = self._rows(series, points, colour)
        if rows["x"]:
            if self._legend_item not in self.figure.legend.items and self.figure.colours is None:
                self.figure.legend.items = [*self.figure.legend.items, self._legend_item]
            self.figure.measured = True
            self.points.stream(rows)
            if VALUE in self._columns:
                self.figure.colour_measured(self.points.data[VALUE])
            if self.figure.legend.ncols > 1 and max(map(len, rows["label"])) > LONG:
                self.figure.legend.ncols = 1
        return len(rows["x"])

    def full(self, series: int) -> bool:
        """Whether there is more on it than a browser should draw of so many series."""
        return len(self.points.data["x"]) > 2 * MOST_POINTS * series

    def replace(self, series: Mapping[str, Series], points: Iterable[Triple], colour: ColourOf) -> None:
        """Draw these points in place of those that are there."""
        self.points.data = self._rows(series, points, colour)

    def _rows(
        self, series: Mapping[str, Series], points: Iterable[Triple], colour: ColourOf
    ) -> dict[str, list[Any]]:
        """Columns of those points that belong on this figure."""
        rows = self._no_rows()
        for key, x, y in points:
            one = series.get(key)
            if one is None or one.figure != self.figure.spec.name:
                continue
            value = one.labels.get(VALUE, math.nan)
            for name, entry in zip(
                self._columns, (x, y, key, one.label, colour(one.label), value), strict=False
            ):
                rows[name].append(entry)
        return rows

    def seal(self, prediction: Prediction, colour: ColourOf) -> None:
        """Dashed lines, a band where an interval is known, and a shade over the region that is scored."""
        if prediction.figure != self.figure.spec.name:
            return
        of_sliders = prediction.name.startswith(SLIDERS)
        # Of what the sliders drew only the lines that predict; guides and marks move with the figure anyway.
        shown = {"solid"} if of_sliders else {"solid", "dashed", "dotted", "dots"}
        drawn = [
            renderer
            for curve in prediction.curves
            if curve.x and curve.style in shown
            for renderer in self._draw(f"sealed {prediction.name} {curve.key}", curve, colour(curve.label))
        ]
        scored = prediction.details.get("scored_x")
        if scored:
            self._shade.update(left=scored[0], right=scored[1], visible=True)
        if drawn and not of_sliders:
            item = LegendItem(label="sealed prediction", renderers=drawn[:1])
            self.figure.legend.items = [*self.figure.legend.items, item]
            drawn.append(item)
        self._sealed += drawn

    def _draw(self, name: str, curve: PredictedCurve, colour: str) -> list[Any]:
        plot = self.figure.plot
        data = {"x": np.array(curve.x), "y": np.array(curve.y)}
        banded = curve.lower is not None and curve.upper is not None
        if banded:
            data |= {"lower": np.array(curve.lower), "upper": np.array(curve.upper)}
        source = ColumnDataSource(data=data, name=name)
        if curve.style == "dots":
            looks = {"size": 11, "fill_alpha": 0, "line_width": 2}
            return [plot.scatter("x", "y", source=source, color=colour, **looks)]
        drawn = [plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=DASHES["dashed"])]
        if banded:
            drawn.append(plot.varea("x", "lower", "upper", source=source, color=colour, alpha=0.18))
        return drawn
