"""The page's address holds the sliders that differ from their defaults, so that a link restores them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
from panel.viewable import Viewer

# Written in the browser, a moment after the last move, without a new entry in its history.
REPLACE = """
clearTimeout(window.scalingExplorerAddress);
const query = cb_obj.value;
window.scalingExplorerAddress = setTimeout(
  () => window.history.replaceState(null, "", window.location.pathname + query), 250);
"""


def read_address(search: str) -> dict[str, str]:
    """Names and values in the query part of an address; the last of a repeated name counts."""
    return dict(parse_qsl(search.removeprefix("?"), keep_blank_values=True, max_num_fields=200))


def write_address(values: dict[str, Any]) -> str:
    """The query that restores `values`; numbers keep all their digits. Empty for nothing."""
    query = urlencode({name: _text(value) for name, value in values.items()}, safe=",")
    return f"?{query}" if query else ""


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return _digits(value) if isinstance(value, float) else str(value)


def _digits(value: float) -> str:
    """The shortest text that is read back as the same number: 7e10 rather than 70000000000.0."""
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if float(text) == value:
            break
    return text.replace("e+", "e")


class AddressBar(Viewer):
    """Keeps the browser's address in step; it has no look of its own."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._query = pn.widgets.TextInput(value="", visible=False)
        self._query.jscallback(value=REPLACE)

    def write(self, values: dict[str, Any]) -> None:
        query = write_address(values)
        if self._query.value != query:
            self._query.value = query

    def __panel__(self) -> pn.widgets.TextInput:
        return self._query
