"""The verdict, in words and numbers, with the claim as it stood before the run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from explorer.agreement import Agreement
from explorer.numbers import write_number

COLOURS = {"agrees": "#0B8457", "disagrees": "#C04A00", "too noisy to say": "#767676"}
SIGNS = {"agrees": "✓", "disagrees": "✗", "too noisy to say": "≈"}


def sentence(agreement: Agreement) -> str:
    """The whole verdict as one plain sentence."""
    than = "under" if agreement.sense == "below" else "over"
    spread = ""
    if agreement.interval is not None:
        low, high = agreement.interval
        spread = f" ({agreement.coverage:.0%} interval {write_number(low, 3)} to {write_number(high, 3)})"
    return (
        f"{agreement.verdict}: {write_number(agreement.value, 3)}{spread}, where agreement means {than} "
        f"{write_number(agreement.threshold, 3)}; {agreement.points} points, {agreement.seeds} seeds.{_more(agreement)}"
    )


def _more(agreement: Agreement) -> str:
    """How many seeds would settle it, where that is known."""
    if agreement.seeds_needed is None:
        return ""
    return f" About {agreement.seeds_needed:,} seeds would settle it, if nothing else changed."


def _side(agreement: Agreement, value: float) -> str:
    """On which side of the threshold a baseline lies; "also" where that is the claimed one."""
    below = value < agreement.threshold
    also = "also " if below == (agreement.sense == "below") else ""
    return also + ("under" if below else "over")


def _card(agreement: Agreement) -> str:
    colour = COLOURS[agreement.verdict]
    threshold = write_number(agreement.threshold, 3)
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{write_number(value, 3)}</td>"
        f"<td>{_side(agreement, value)} {threshold}</td></tr>"
        for name, value in agreement.baselines.items()
    )
    caption = "The same number for what one might use instead"
    baselines = f"<table class='sx-baselines'><caption>{caption}</caption>{rows}</table>"
    return (
        f"<section class='sx-verdict' style='border-left: 6px solid {colour}' data-verdict='{agreement.verdict}'>"
        f"<div class='sx-number' style='color: {colour}'>{SIGNS[agreement.verdict]} {escape(agreement.verdict)}"
        f" <b>{write_number(agreement.value, 3)}</b></div>"
        f"<p>{escape(sentence(agreement))}</p><p class='sx-claim'>Claimed beforehand: {escape(agreement.claim)}</p>"
        f"<p class='sx-scope'>{escape(agreement.scope)}</p>{baselines if rows else ''}</section>"
    )


STYLE = """
.sx-verdict { padding: 8px 16px; background: rgba(128, 128, 128, 0.08); border-radius: 4px; margin: 4px 0; }
.sx-verdict p { margin: 4px 0; }
.sx-number { font-size: 1.35rem; }
.sx-claim, .sx-scope { font-size: 0.85rem; opacity: 0.85; }
.sx-baselines { font-size: 0.85rem; border-spacing: 12px 0; margin-left: -12px; }
.sx-baselines caption { text-align: left; padding-left: 12px; opacity: 0.85; }
"""


class VerdictCard(Viewer):
    """The verdicts of a run; a sentence in their place while there are none."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._pane = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE], margin=(0, 10))

    def display(self, agreements: Sequence[Agreement], otherwise: str = "") -> None:
        cards = "".join(map(_card, agreements)) or (f"<p>{escape(otherwise)}</p>" if otherwise else "")
        html = f"<div role='status' aria-live='polite'>{cards}</div>"
        if self._pane.object != html:
            self._pane.object = html

    def __panel__(self) -> pn.pane.HTML:
        return self._pane
