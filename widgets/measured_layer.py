"""Measured points and sealed predictions, drawn over a figure of an exhibit and streamed while a run lives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, LegendItem

from explorer.lab import SLIDERS, Training
from explorer.records import Prediction, Series
from explorer.runs import Sealed
from widgets.law_figure import LawFigure, hover
from widgets.palette import DASHES, ColourOf

MOST_POINTS = 2000  # of a series: what is drawn is thinned, what is stored is whole
COLUMNS = ("x", "y", "series", "label", "colour")


def no_rows() -> dict[str, list[Any]]:
    """Empty columns; new lists each time, since a source grows those it is given."""
    return {name: [] for name in COLUMNS}


class MeasuredLayer:
    """What one run measured, over the curves of `target`.

    `watch(training)` starts with what is stored; `update()` adds what has come since, in one short message.
    """

    def __init__(self, target: LawFigure) -> None:
        self.figure = target
        name = target.spec.name
        target.legend.ncols = 2  # conditions have long names, and a phone shows two
        self.points = ColumnDataSource(data=no_rows(), name=f"{name}-measured")
        self._dots = target.plot.scatter(
            "x", "y", source=self.points, color="colour", fill_alpha=0.45, line_alpha=0.9, size=7
        )
        target.plot.add_tools(hover(target.spec, self._dots, "x", "y", "@series"))
        self._legend_item = LegendItem(label={"field": "label"}, renderers=[self._dots])
        # Made with the plot: an annotation that is added to a drawn plot has no view yet when it is first laid out.
        self._shade = BoxAnnotation(left=0, right=0, fill_alpha=0.05, fill_color="#0072B2", visible=False)
        target.plot.add_layout(self._shade)
        self._training: Training | None = None
        self._series: dict[str, Series] = {}
        self._cursor: dict[str, int] = {}
        self._colour = ColourOf()
        self._sealed: dict[str, list[Any]] = {}
        self.sealed: dict[str, Sealed] = {}

    def watch(self, training: Training | None) -> None:
        """Show this run from now on, or nothing."""
        self._training, self._series, self._cursor = training, {}, {}
        self._colour = ColourOf()
        for drawn in self._sealed.values():
            self._remove(drawn)
        self._sealed, self.sealed = {}, {}
        self._shade.visible = False
        self.points.data = no_rows()
        self.figure.measured = False
        self.update()

    def update(self) -> int:
        """Draw what has been stored since the last call.

        Returns:
            how many points were added.
        """
        if self._training is None:
            return 0
        store = self._training.lab.store
        declared, points, self._cursor = store.since(self._training.id, self._cursor)
        self._series.update({series.key: series for series in declared})
        rows = self._rows(points)
        if rows["x"]:
            if self._legend_item not in self.figure.legend.items:
                self.figure.legend.items = [*self.figure.legend.items, self._legend_item]
            self.figure.measured = True
            self.points.stream(rows)
            if len(self.points.data["x"]) > 2 * MOST_POINTS * len(self._series):
                self._thin()
        if store.sealed_count(self._training.id) != len(self.sealed):
            self.sealed = self._training.predictions()
        for name, sealed in self.sealed.items():
            if name not in self._sealed:
                self._sealed[name] = self._draw_sealed(sealed.prediction)
        return len(rows["x"])

    def _thin(self) -> None:
        """Draw the run anew from the store, thinned evenly instead of losing its beginning."""
        assert self._training is not None
        curves = self._training.measured(MOST_POINTS)
        self.points.data = self._rows(
            (s.key, *xy) for s, x, y in curves for xy in zip(x.tolist(), y.tolist(), strict=True)
        )

    def _rows(self, points: Iterable[tuple[str, float, float]]) -> dict[str, list[Any]]:
        """Columns of those points (series, x, y) that belong on this figure."""
        rows = no_rows()
        for key, x, y in points:
            series = self._series.get(key)
            if series is None or series.figure != self.figure.spec.name:
                continue
            for name, value in zip(
                COLUMNS, (x, y, key, series.label, self._colour(series.label)), strict=True
            ):
                rows[name].append(value)
        return rows

    def _draw_sealed(self, prediction: Prediction) -> list[Any]:
        """Dashed lines, a band where an interval is known, and a shade over the region that is scored."""
        if prediction.figure != self.figure.spec.name:
            return []
        plot, drawn = self.figure.plot, []
        for curve in prediction.curves:
            if not curve.x:
                continue
            colour = self._colour(curve.label)
            data = {"x": np.array(curve.x), "y": np.array(curve.y)}
            if curve.lower is not None and curve.upper is not None:
                data |= {"lower": np.array(curve.lower), "upper": np.array(curve.upper)}
            source = ColumnDataSource(data=data, name=f"sealed {prediction.name} {curve.key}")
            line = plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=DASHES["dashed"])
            drawn.append(line)
            if "lower" in data:
                drawn.append(plot.varea("x", "lower", "upper", source=source, color=colour, alpha=0.18))
        scored = prediction.details.get("scored_x")
        if scored:
            self._shade.update(left=scored[0], right=scored[1], visible=True)
        if drawn and prediction.name != SLIDERS:
            item = LegendItem(label="sealed prediction", renderers=drawn[:1])
            self.figure.legend.items = [*self.figure.legend.items, item]
            drawn.append(item)
        return drawn

    def _remove(self, drawn: list[Any]) -> None:
        plot = self.figure.plot
        gone = set(drawn)
        plot.renderers = [one for one in plot.renderers if one not in gone]
        self.figure.legend.items = [
            one for one in self.figure.legend.items if one not in gone and one is not self._legend_item
        ]
