"""What every page shares: the bar at the top, its links, and the theme."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.util import edit_readonly

TITLE = "Scaling Explorer"
THEME = {
    "palette": {"primary": {"main": "#0072B2"}, "error": {"main": "#A63F00"}},
    "typography": {"fontSize": 14},
}
LOST = "The connection to Scaling Explorer is lost. If it was stopped, start it again; then reload this page."
LINKS = {"Exhibits": "./", "Runs": "./runs"}


def prepare() -> None:
    """Load what pages need, from this server only: formulas are typeset without asking another host."""
    pn.extension("mathjax", notifications=True, disconnect_notification=LOST)


def frame(*content: Any, title: str = TITLE) -> pmui.Page:
    """A page with `content` under the bar."""
    links = [
        pmui.Button(label=label, href=href, variant="text", color="light", margin=(4, 2))
        for label, href in LINKS.items()
    ]
    page = pmui.Page(
        title=TITLE,
        main=[pn.Column(*content, sizing_mode="stretch_width", margin=(4, 8))],
        header=[pn.Row(*links, margin=(0, 0, 0, 12))],
        site_url="./",
        theme_config=THEME,
        meta_title=title if title == TITLE else f"{title} · {TITLE}",
        busy_indicator=None,
    )
    # The page follows Panel's busy mark, and each flip of it walks every model of the document, 20 ms a time.
    with edit_readonly(page):
        page.busy = False
    return page


def problem(sentence: str) -> pmui.Alert:
    """One sentence about what could not be done, where the person looks first; shown as it is, not as markup."""
    text = pn.pane.HTML(escape(sentence), margin=0)
    return pmui.Alert(text, severity="warning", closeable=True, sizing_mode="stretch_width")
