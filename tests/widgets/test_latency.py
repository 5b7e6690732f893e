"""The private parts that quick sliders lean on must still be there."""

import panel_material_ui as pmui
import pytest
from bokeh.server.views.ws import WSHandler
from panel.reactive import Syncable

from widgets import latency


def test_panel_still_has_what_is_set():
    assert Syncable._debounce == 50
    assert Syncable._busy__ignore == []
    slider = pmui.FloatSlider()
    latency.answer_at_once(slider)
    assert slider._debounce == 0
    assert pmui.FloatSlider()._debounce == 50, "other widgets keep their pause"


def test_a_panel_without_them_is_told(monkeypatch):
    monkeypatch.setattr(latency, "PRIVATE", ("_debounce", "_gone"))
    with pytest.raises(AttributeError, match="_gone"):
        latency.answer_at_once(pmui.FloatSlider())


def test_every_socket_is_opened_without_delay(monkeypatch):
    calls = []
    monkeypatch.setattr(WSHandler, "open", lambda self: calls.append("opened"))
    latency.send_small_frames_at_once()
    latency.send_small_frames_at_once()

    class Socket:
        def set_nodelay(self, value):
            calls.append(value)

    WSHandler.open(Socket())
    assert calls == [True, "opened"], "set once, before the socket is used"
    assert hasattr(WSHandler, "set_nodelay")
