"""The numbers beside the figures, replaced as one piece of text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from explorer.exhibits import Exhibit, Readout
from explorer.numbers import write_number

STYLE = """
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(132px, 1fr)); gap: 6px 12px; margin: 4px 0; }
dt { font-size: 0.78rem; opacity: 0.8; }
dd { margin: 0; font-size: 1.05rem; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
"""


def readouts_html(readouts: Sequence[Readout]) -> str:
    """A description list: each number under its name."""
    parts = []
    for one in readouts:
        value = escape(one.text) if one.text or one.value is None else write_number(one.value)
        unit = f" <small>{escape(one.unit)}</small>" if one.unit else ""
        parts.append(
            f"<div title='{escape(one.doc)}'><dt>{escape(one.label)}</dt><dd>{value}{unit}</dd></div>"
        )
    return f"<dl>{''.join(parts)}</dl>"


class ReadoutPanel(Viewer):
    """The exhibit's readouts as its sliders stand."""

    def __init__(self, exhibit: Exhibit, **params: Any) -> None:
        super().__init__(**params)
        self.exhibit = exhibit
        self._pane = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE], margin=(0, 10))
        self.refresh()

    def refresh(self) -> None:
        html = readouts_html(self.exhibit.readouts())
        if self._pane.object != html:
            self._pane.object = html

    def __panel__(self) -> pn.pane.HTML:
        return self._pane
