"""What was sealed, when, and under which digest, with the fitted coefficients and their intervals."""

from __future__ import annotations

import time
from collections.abc import Iterable
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from explorer.lab import SLIDERS
from explorer.numbers import write_number
from explorer.runs import Sealed

STYLE = """
section { padding: 4px 16px; border-left: 6px solid rgba(128, 128, 128, 0.5); margin: 4px 0; font-size: 0.9rem; }
p { margin: 4px 0; }
ul { display: flex; flex-wrap: wrap; gap: 2px 20px; list-style: none; margin: 4px 0; padding: 0; }
li { font-variant-numeric: tabular-nums; }
small { opacity: 0.8; }
"""


def sealed_html(sealed: Sealed) -> str:
    """One sealed prediction: its moment and digest, what it says it rests on, and its coefficients."""
    prediction = sealed.prediction
    when = time.strftime("%H:%M:%S on %Y-%m-%d", time.localtime(sealed.sealed_at))
    intervals: dict[str, Any] = prediction.details.get("intervals", {})
    items = []
    for name, value in prediction.coefficients.items():
        between = ""
        if name in intervals:
            low, high = intervals[name]
            between = f" <small>({write_number(low, 3)} to {write_number(high, 3)})</small>"
        items.append(f"<li>{escape(name)} {write_number(value, 4)}{between}</li>")
    coverage = (
        f" In brackets: {prediction.coverage:.0%} intervals." if prediction.coverage and intervals else ""
    )
    return (
        f"<section><p><b>Prediction sealed at {when}</b> <small>SHA-256 {sealed.digest[:12]}…</small></p>"
        f"<p>{escape(prediction.note)}{coverage}</p><ul>{''.join(items)}</ul></section>"
    )


class SealedCard(Viewer):
    """The predictions that a trial sealed while it ran; those of the sliders are drawn with the curves."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._pane = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE], margin=(0, 10))

    def display(self, sealed: Iterable[Sealed]) -> None:
        html = "".join(sealed_html(one) for one in sealed if not one.prediction.name.startswith(SLIDERS))
        if self._pane.object != html:
            self._pane.object = html

    def __panel__(self) -> pn.pane.HTML:
        return self._pane
