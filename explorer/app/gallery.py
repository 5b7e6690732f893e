"""The first page: every exhibit as a question, with its paper and the state of its latest run."""

from __future__ import annotations

from html import escape

import panel as pn
import panel_material_ui as pmui

from explorer.agreement import in_short
from explorer.app.frame import frame
from explorer.exhibits import Entry, discover
from explorer.lab import Lab

STYLE = """
.sx-cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 16px; }
.sx-card { display: flex; flex-direction: column; gap: 6px; height: 100%; box-sizing: border-box; padding: 16px;
  border: 1px solid rgba(128, 128, 128, 0.35); border-radius: 8px; color: inherit; text-decoration: none; }
a.sx-card:hover, a.sx-card:focus { border-color: #0072B2; box-shadow: 0 1px 6px rgba(0, 114, 178, 0.35); }
.sx-question { font-size: 1.15rem; font-weight: 500; }
.sx-paper { font-size: 0.82rem; opacity: 0.8; }
.sx-state { margin-top: auto; font-size: 0.85rem; }
.sx-intro { font-size: 1.05rem; max-width: 60rem; }
"""
INTRO = (
    "<p class='sx-intro'>Move a slider, see the predicted loss curve. Press Train: the prediction is sealed, a "
    "real tiny model is trained on this computer, and one number says how far apart they are.</p>"
)


def state_of(entry: Entry, lab: Lab) -> str:
    """The latest run in a few words."""
    if entry.cls is None:
        return ""
    for run in lab.store.runs(exhibit=entry.slug, limit=1):
        return f"Latest run: {in_short(lab.store.agreements(run.id)) or run.state}"
    return "Never run here"


def card(entry: Entry, lab: Lab) -> str:
    """One exhibit; a broken one says why and leads nowhere."""
    if entry.cls is None:
        return (
            f"<div class='sx-card'><span class='sx-question'>{escape(entry.slug)}</span>"
            f"<span class='sx-paper'>This exhibit cannot be loaded. {escape(entry.error)}</span></div>"
        )
    return (
        f"<a class='sx-card' href='./{escape(entry.slug)}'>"
        f"<span class='sx-question'>{escape(entry.cls.question())}</span>"
        f"<span class='sx-paper'>{escape(entry.cls.paper.citation)}</span>"
        f"<span class='sx-state'>{escape(state_of(entry, lab))}</span></a>"
    )


def gallery(lab: Lab) -> pmui.Page:
    """All exhibits, the flagship first."""
    cards = "".join(card(entry, lab) for entry in discover())
    html = f"{INTRO}<nav class='sx-cards' aria-label='Exhibits'>{cards}</nav>"
    return frame(pn.pane.HTML(html, sizing_mode="stretch_width", stylesheets=[STYLE]))
