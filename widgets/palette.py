"""Colours that survive colour blindness and print: Okabe and Ito's, Tol's, and viridis for ordered families."""

from __future__ import annotations

from bokeh.palettes import Viridis256

EMPHASIS = "#D55E00"
DISTINCT = ("#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A", "#B8A800", EMPHASIS)
MORE = ("#882255", "#44AA99", "#332288", "#999933")  # Tol's, for more than eight
DASHES = {"solid": "solid", "dashed": [8, 5], "dotted": [2, 4], "dots": "solid"}


def distinct(index: int) -> str:
    return (*DISTINCT, *MORE)[index % (len(DISTINCT) + len(MORE))]


def sequential(tone: float) -> str:
    """A colour for a place in [0, 1]; both ends are left out, so that lines show on white and on black."""
    return Viridis256[60 + round(min(max(tone, 0.0), 1.0) * 155)]


class ColourOf:
    """Hands out one distinct colour a label, in the order labels are first seen."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def __call__(self, label: str) -> str:
        return self._given.setdefault(label, distinct(len(self._given)))
