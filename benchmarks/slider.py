"""From a key press on a slider to the painted curves: this package's figure beside a HoloViews DynamicMap.

Both draw the same 8 curves of 500 points, in the same app, in the same headless Chromium, in the same run. Also
measured: the server's part of one step, and this package's figure while a real trial trains.

    python benchmarks/slider.py [--steps 60]

Needs Chromium. Times are wall-clock on this machine; compare the ratios.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui
from playwright.sync_api import Page, sync_playwright

from explorer.app.frame import prepare
from explorer.app.server import pages
from explorer.exhibits import Axis, Curve, Exhibit, Paper, Quantity, figure
from explorer.lab import Lab
from widgets import LawFigure, QuantitySlider
from widgets.latency import send_small_frames_at_once

CURVES, POINTS = 8, 500
X = np.linspace(0.1, 10, POINTS)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]

# Notes the moment of a trusted key press, and the end of the first paint in which the data has changed.
WATCH = """
() => {
  window.painted = []; window.paints = 0; let pressed = null, before = null;
  const first = () => {
    for (const d of Bokeh.documents) for (const m of d._all_models.values())
      if (m.type === "ColumnDataSource") {
        const names = Object.keys(m.data).filter((n) => n.startsWith("y"));
        if (names.length && (m.name === SOURCE || m.data[names[0]].length === 500)) return m.data[names[0]][100];
      }
    return null;
  };
  document.addEventListener("keydown", (e) => { pressed = e.timeStamp; before = first(); }, true);
  const View = Bokeh.Models.get("Figure").prototype.default_view;
  const paint = View.prototype._actual_paint;
  View.prototype._actual_paint = function () {
    paint.call(this);
    window.paints += 1;
    if (pressed !== null && first() !== before) { window.painted.push(performance.now() - pressed); pressed = null; }
  };
  return first();
}
"""
IDLE = "() => window.Bokeh?.documents?.length && Bokeh.documents.every(d => d.is_idle)"


def family(p: float) -> list[np.ndarray]:
    """Eight curves that move with p."""
    return [1 + np.exp(-p * X / (k + 1)) + 0.1 * k for k in range(CURVES)]


class Eight(Exhibit):
    """Eight curves"""

    slug = "eight"
    paper = Paper(title="Eight curves", authors="-", venue="-")
    p = Quantity(1.0, bounds=(0, 4), label="p", step=0.01)

    @figure("Eight curves", x=Axis("x"), y=Axis("y"))
    def eight(self) -> list[Curve]:
        return [Curve(f"c{k}", f"c{k}", X, y, tone=k / 7) for k, y in enumerate(family(self.p))]


def ours() -> pn.Column:
    """The package's way: one source, replaced whole, no pause, no Nagle."""
    exhibit = Eight()
    view = LawFigure(exhibit, "eight")

    def moved() -> None:
        with pn.io.hold():
            view.refresh()

    return pn.Column(QuantitySlider(exhibit, "p", moved), view)


def dynamic_map() -> pn.Column:
    """The usual way: a DynamicMap that follows the slider."""
    slider = pmui.FloatSlider(label="p", start=0, end=4, step=0.01, value=1.0)

    def draw(p: float) -> hv.Overlay:
        return hv.Overlay([hv.Curve((X, y), label=f"c{k}") for k, y in enumerate(family(p))])

    plot = hv.DynamicMap(draw, streams={"p": slider.param.value}).opts(responsive=True, height=340)
    return pn.Column(slider, pn.pane.HoloViews(plot, sizing_mode="stretch_width"))


def server_part(steps: int) -> float:
    """Median milliseconds of Python for one step: move, curves, packing and handing the data to Bokeh."""
    exhibit = Eight()
    view = LawFigure(exhibit, "eight")
    taken = []
    for k in range(steps):
        begin = time.perf_counter()
        exhibit.move(p=0.5 + 0.01 * (k % 300))
        view.refresh()
        taken.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(taken)


def press(page: Page, url: str, steps: int, source: str = "") -> tuple[np.ndarray, float]:
    """Milliseconds from each of `steps` single key presses to its paint, and paints a step."""
    page.goto(url)
    page.wait_for_function(IDLE, timeout=60_000)
    page.wait_for_timeout(1500)
    assert page.evaluate(WATCH.replace("SOURCE", repr(source))) is not None, "no curves found"
    page.locator("input[type=range]").first.focus()
    for k in range(steps + 5):
        done = page.evaluate("() => window.painted.length")
        page.keyboard.press("ArrowRight" if k % 40 < 20 else "ArrowLeft")
        page.wait_for_function("(n) => window.painted.length > n", arg=done, timeout=10_000, polling=20)
        page.wait_for_timeout(60)
        if k == 4:
            page.evaluate("() => { window.painted = []; window.paints = 0 }")
    measured = np.array(page.evaluate("() => window.painted"))
    return measured, page.evaluate("() => window.paints") / len(measured)


def report(name: str, times: np.ndarray, paints: float, against: float | None = None) -> None:
    ratio = f", {against / np.median(times):.1f} times quicker than DynamicMap" if against else ""
    print(
        f"{name:42} median {np.median(times):6.1f} ms, 95th percentile {np.percentile(times, 95):6.1f} ms, "
        f"{paints:.1f} paints a step{ratio}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    print(f"{platform.platform()}, Python {platform.python_version()}, panel {pn.__version__}")
    print(f"server part of one step, {CURVES} curves of {POINTS} points: median {server_part(300):.2f} ms")

    folder = tempfile.TemporaryDirectory()
    lab = Lab(Path(folder.name) / "runs.sqlite", device="cpu")
    prepare()
    hv.extension("bokeh")
    send_small_frames_at_once()
    server = pn.serve(
        {
            "ours": ours,
            "dynamicmap": dynamic_map,
            "ladder": lambda: pages(lab)["ladder"](),
        },
        port=0,
        address="localhost",
        show=False,
        threaded=True,
    )
    while not pn.state._servers:
        time.sleep(0.02)
    (running, *_) = next(iter(pn.state._servers.values()))
    url = f"http://localhost:{running.port}/"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        try:
            page = browser.new_page(viewport={"width": 1000, "height": 700})
            slow, slow_paints = press(page, url + "dynamicmap", steps)
            quick, quick_paints = press(page, url + "ours", steps)
            whole, whole_paints = press(page, url + "ladder", steps, "loss_curves-curves")
            training = lab.train(lab.load("ladder"), size="default")
            while training.run.points == 0:
                time.sleep(0.1)
            busy, busy_paints = press(page, url + "ours", steps)
            still = training.live
            training.stop()
            report("HoloViews DynamicMap", slow, slow_paints)
            report("one source replaced whole", quick, quick_paints, float(np.median(slow)))
            report("the ladder's page, followed in the browser", whole, whole_paints)
            report("one source, while a trial trains", busy, busy_paints, float(np.median(slow)))
            if not still:
                print("(the trial ended before the last step)")
            print(f"while training / idle: {np.median(busy) / np.median(quick):.2f}")
        finally:
            browser.close()
            lab.close()
            server.stop()
            folder.cleanup()


if __name__ == "__main__":
    main()
