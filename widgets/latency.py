"""Two settings that make a slider answer at once; both reach into private parts, so each has its own test.

Panel holds every widget change back for 50 ms, and Bokeh's websocket leaves Nagle's algorithm on, which makes
the last frame of an update wait for an acknowledgement. Without both, one slider step costs twice as long.
"""

from __future__ import annotations

from bokeh.server.views.ws import WSHandler
from panel.reactive import Syncable


def answer_at_once(widget: Syncable) -> None:
    """Send this widget's changes to Python without Panel's pause. Only for callbacks of a few milliseconds."""
    if not hasattr(Syncable, "_debounce"):
        raise AttributeError(
            "Panel no longer has Syncable._debounce: look for its new way to answer at once."
        )
    widget._debounce = 0  # type: ignore[misc]


def send_small_frames_at_once() -> None:
    """Set TCP_NODELAY on every websocket that a Bokeh server of this process opens from now on."""
    if getattr(WSHandler.open, "sends_at_once", False):
        return
    opened = WSHandler.open

    def open_without_delay(self: WSHandler) -> None:
        self.set_nodelay(True)
        opened(self)

    open_without_delay.sends_at_once = True  # type: ignore[attr-defined]
    WSHandler.open = open_without_delay  # type: ignore[method-assign]
