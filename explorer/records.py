"""What a trial says while it runs, and the table its points become.

An experiment is a generator that yields these records; the engine carries them out of the worker, the store
keeps them, and compare reads them back as one `Measured` table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Label = str | int | float | bool


class Series(msgspec.Struct, tag="series", frozen=True):
    """One measured curve: declared once, before its first point.

    Args:
        key: unique within the run, e.g. "h=64 seed 1".
        figure: name of the exhibit's figure that draws it.
        label: what a person reads in the legend.
        labels: what a machine groups by, e.g. {"width": 64, "seed": 1, "N": 22464, "role": "fitted"}.
    """

    key: str
    figure: str
    label: str
    labels: dict[str, Label] = {}


class Point(msgspec.Struct, tag="point", frozen=True):
    """One measurement (x, y) of a series, in the units of the figure's axes."""

    series: str
    x: float
    y: float


class Progress(msgspec.Struct, tag="progress", frozen=True):
    """How far the trial is: `done` in [0, 1], training tokens seen so far, and what it is doing."""

    done: float
    tokens: int = 0
    note: str = ""


class PredictedCurve(msgspec.Struct, frozen=True):
    """A curve of a sealed prediction; `lower` and `upper` bound it where an interval is known.

    `style` is that of a predicted curve: "dots" are points without a line between them.
    """

    key: str
    label: str
    x: list[float]
    y: list[float]
    lower: list[float] | None = None
    upper: list[float] | None = None
    style: Literal["solid", "dashed", "dotted", "dots", "bars"] = "solid"


class Prediction(msgspec.Struct, tag="prediction", frozen=True):
    """A prediction to be sealed. The experiment goes on only once the store has it.

    Args:
        name: unique within the run, e.g. "bigger-model".
        figure: name of the figure that draws it.
        law: the law's name.
        coefficients: the numbers that make the law predict.
        curves: what is predicted.
        coverage: nominal coverage of `lower`..`upper`, e.g. 0.9.
        note: one sentence: what was fitted to what.
        details: further numbers that the comparison needs (JSON-able). Pages know two of them: "scored_x", the
            (low, high) on the x axis that is scored, and "intervals", (low, high) of coefficients by name.
    """

    name: str
    figure: str
    law: str
    coefficients: dict[str, float]
    curves: list[PredictedCurve]
    coverage: float | None = None
    note: str = ""
    details: dict[str, Any] = {}

    def curve(self, key: str) -> PredictedCurve:
        """The curve called `key`; KeyError if it was not predicted."""
        for curve in self.curves:
            if curve.key == key:
                return curve
        raise KeyError(key)


Record = Series | Point | Progress | Prediction


class Measured:
    """The points of a run: for every series its declaration and two float64 arrays x, y of one length."""

    def __init__(self, curves: Mapping[str, tuple[Series, np.ndarray, np.ndarray]]) -> None:
        self._curves = {
            key: (series, np.asarray(x, float), np.asarray(y, float))
            for key, (series, x, y) in curves.items()
        }

    def __iter__(self) -> Iterator[tuple[Series, np.ndarray, np.ndarray]]:
        return iter(self._curves.values())

    def __len__(self) -> int:
        """Number of points over all series."""
        return sum(len(x) for _, x, _ in self)

    def __getitem__(self, key: str) -> tuple[Series, np.ndarray, np.ndarray]:
        return self._curves[key]

    def __contains__(self, key: object) -> bool:
        return key in self._curves

    def where(self, **labels: Label) -> Measured:
        """The series whose labels have all of these values."""
        return Measured(
            {
                series.key: (series, x, y)
                for series, x, y in self
                if all(series.labels.get(name) == value for name, value in labels.items())
            }
        )

    def columns(self) -> dict[str, np.ndarray]:
        """One row a point: x, y, series, and every label that each series carries."""
        curves = list(self)
        shared = set.intersection(*(set(s.labels) for s, _, _ in curves)) if curves else set()
        columns = {
            "series": np.concatenate(
                [np.full(len(x), s.key, dtype=object) for s, x, _ in curves] or [np.empty(0, dtype=object)]
            ),
            "x": np.concatenate([x for _, x, _ in curves] or [np.empty(0)]),
            "y": np.concatenate([y for _, _, y in curves] or [np.empty(0)]),
        }
        for name in sorted(shared):
            columns[name] = np.concatenate([np.full(len(x), s.labels[name]) for s, x, _ in curves])
        return columns

    def frame(self) -> pd.DataFrame:
        """The same as `columns`, as a pandas table; a label that a series lacks is missing there."""
        import pandas as pd

        rows = [pd.DataFrame({"series": s.key, "x": x, "y": y, **s.labels}) for s, x, y in self if len(x)]
        return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=["series", "x", "y"])
