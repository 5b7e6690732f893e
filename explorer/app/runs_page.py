"""All stored runs: what was trained, how it ended, and the way back to it."""

from __future__ import annotations

import time
from html import escape

import panel as pn
import panel_material_ui as pmui

from explorer.app.frame import frame
from explorer.lab import Lab

LISTED = 200
STYLE = """
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 6px 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.3); vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
a { color: inherit; }
"""


def runs_page(lab: Lab) -> pmui.Page:
    """The newest runs as a table; each leads to its exhibit."""
    rows = []
    for run in lab.store.runs(limit=LISTED):
        verdicts = "; ".join(f"{one.verdict} ({one.value:.3g})" for one in lab.store.agreements(run.id))
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
        link = f"./{escape(run.exhibit)}?run={escape(run.id)}"
        rows.append(
            f"<tr><td><a href='{link}'>{escape(run.id)}</a></td><td>{when}</td>"
            f"<td>{escape(run.exhibit)} · {escape(run.trial)} · {escape(run.size)}</td>"
            f"<td>{escape(run.state)}</td><td>{escape(verdicts)}</td><td class='number'>{run.points:,}</td>"
            f"<td>{escape(run.device)}</td><td>{escape(run.sentence)}</td></tr>"
        )
    head = "".join(
        f"<th scope='col'>{name}</th>"
        for name in ("run", "started", "trial", "state", "verdict", "points", "device", "what happened")
    )
    total = lab.store.count()
    more = f"<p>The newest {LISTED} of {total:,} runs.</p>" if total > LISTED else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
    empty = "<p>No runs yet. Open an exhibit and press Train.</p>"
    where = f"<p>Stored in {escape(str(lab.store.path))}</p>"
    body = pn.pane.HTML((table if rows else empty) + where, sizing_mode="stretch_width", stylesheets=[STYLE])
    return frame(pmui.Typography("Runs", variant="h5"), body, title="Runs")
