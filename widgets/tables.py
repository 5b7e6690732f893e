"""What a run measured and nobody judges: plain tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from explorer.exhibits import Table
from explorer.numbers import write_number

STYLE = """
figure { margin: 8px 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 500; padding: 4px 0; }
th, td { padding: 3px 12px 3px 0; text-align: right; border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
th { font-weight: 500; opacity: 0.8; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
p { margin: 4px 0; font-size: 0.82rem; opacity: 0.85; max-width: 60rem; }
"""


def table_html(table: Table) -> str:
    """One table, numbers in the field's notation."""

    def cell(value: str | float) -> str:
        return escape(value) if isinstance(value, str) else write_number(float(value))

    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{cell(v)}</td>' for v in row)}</tr>" for row in table.rows)
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<figure><table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{note}</figure>"
    )


class TablePanel(Viewer):
    """The tables of a run; nothing while there are none."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._pane = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE], margin=(0, 10))

    def display(self, tables: Sequence[Table]) -> None:
        html = "".join(map(table_html, tables))
        if self._pane.object != html:
            self._pane.object = html

    def __panel__(self) -> pn.pane.HTML:
        return self._pane
