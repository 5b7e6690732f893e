"""A run as it comes out of the store: read once, drawn on every figure of its trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.lab import Training
from explorer.records import Series
from explorer.runs import Sealed
from widgets.law_figure import LawFigure
from widgets.measured_layer import MOST_POINTS, MeasuredLayer
from widgets.palette import ColourOf


class LiveRun:
    """What one run measured and sealed, over the figures of its trial; one colour a label on all of them.

    `watch(training)` starts with what is stored; `update()` adds what has come since, in one short message a figure.
    """

    def __init__(self, figures: Iterable[LawFigure]) -> None:
        self.layers: Sequence[MeasuredLayer] = [MeasuredLayer(figure) for figure in figures]
        self.sealed: dict[str, Sealed] = {}
        self._training: Training | None = None
        self._series: dict[str, Series] = {}
        self._cursor: dict[str, int] = {}
        self._colour = ColourOf()

    def watch(self, training: Training | None) -> None:
        """Show this run from now on, or nothing."""
        self._training, self._series, self._cursor, self.sealed = training, {}, {}, {}
        self._colour = ColourOf()
        for layer in self.layers:
            layer.clear()
        self.update()

    def update(self) -> int:
        """Draw what has been stored since the last call.

        Returns:
            how many points were added on all figures.
        """
        if self._training is None:
            return 0
        store = self._training.lab.store
        declared, points, self._cursor = store.since(self._training.id, self._cursor)
        self._series.update({series.key: series for series in declared})
        added = sum(layer.add(self._series, points, self._colour) for layer in self.layers) if points else 0
        if added and any(layer.full(len(self._series)) for layer in self.layers):
            self._thin()
        if store.sealed_count(self._training.id) != len(self.sealed):
            before, self.sealed = set(self.sealed), self._training.predictions()
            for name in self.sealed.keys() - before:
                for layer in self.layers:
                    layer.seal(self.sealed[name].prediction, self._colour)
        return added

    def _thin(self) -> None:
        """Draw the run anew from the store, thinned evenly instead of losing its beginning."""
        assert self._training is not None
        points = [
            (series.key, *xy)
            for series, x, y in self._training.measured(MOST_POINTS)
            for xy in zip(x.tolist(), y.tolist(), strict=True)
        ]
        for layer in self.layers:
            layer.replace(self._series, points, self._colour)
