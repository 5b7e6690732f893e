"""While a slider moves the browser draws by itself: also when the server says nothing at all."""

from __future__ import annotations

import os
import signal
import time

import pytest
from browser_helpers import column, open_page, slider
from playwright.sync_api import Page

from explorer.exhibits import find

Y = "() => Bokeh.documents.map(d => d.get_model_by_name('loss_curves-curves')).find(s => s).data.y3[100]"


def test_curves_follow_a_slider_without_the_server_and_agree_with_it(page: Page, app) -> None:
    open_page(page, f"{app.url}ladder")
    slider(page, "parameter exponent").focus()
    before = column(page, "loss_curves-curves", "y3")[100]
    process = app.process.pid
    os.kill(process, signal.SIGSTOP)
    try:
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(f"(old) => ({Y})() !== old", arg=before, timeout=5_000)
        time.sleep(0.2)
        alone = column(page, "loss_curves-curves", "y3")
    finally:
        os.kill(process, signal.SIGCONT)
    page.wait_for_function("() => location.search.includes('alpha=')")
    alpha = float(page.evaluate("() => new URLSearchParams(location.search).get('alpha')"))
    theirs = find("ladder")(alpha=alpha).curves("loss_curves")[3].y
    assert alone == pytest.approx(theirs.tolist(), rel=1e-12)
    assert column(page, "loss_curves-curves", "y3") == pytest.approx(theirs.tolist(), rel=1e-12)
