"""Settings that make a slider answer at once; they reach into private parts, so each has its own test.

Panel holds every widget change back for 50 ms and switches the page's busy mark on and off around it, and Bokeh's
websocket leaves Nagle's algorithm on, which makes the last frame of an update wait for an acknowledgement. Together
they double the time of a slider step.
"""

from __future__ import annotations

from bokeh.server.views.ws import WSHandler
from panel.reactive import Syncable

PRIVATE = ("_debounce", "_busy__ignore")


def answer_at_once(widget: Syncable) -> None:
    """Send this widget's changes to Python without Panel's pause. Only for callbacks of a few milliseconds."""
    missing = [name for name in PRIVATE if not hasattr(Syncable, name)]
    if missing:
        raise AttributeError(
            f"Panel no longer has Syncable.{missing[0]}: look for its new way to answer at once."
        )
    widget._debounce = 0
    widget._busy__ignore = ["value", "value_throttled"]


def send_small_frames_at_once() -> None:
    """Set TCP_NODELAY on every websocket that a Bokeh server of this process opens from now on."""
    if getattr(WSHandler.open, "sends_at_once", False):
        return
    opened = WSHandler.open

    def open_without_delay(self: WSHandler) -> None:
        self.set_nodelay(True)
        opened(self)

    open_without_delay.sends_at_once = True  # type: ignore[attr-defined]
    WSHandler.open = open_without_delay
