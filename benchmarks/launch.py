"""From `launch.py` to a painted gallery, beside the smallest Panel app that could be served instead.

    python benchmarks/launch.py [--runs 5]

Each run starts a new process, waits for the first answer, opens the page in headless Chromium and waits until it is
painted. Needs Chromium. Times are wall-clock on this machine; compare the ratio.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
IDLE = "() => window.Bokeh?.documents?.length && Bokeh.documents.every(d => d.is_idle)"
BARE = """
import panel as pn, panel_material_ui as pmui
pn.extension()
server = pn.serve({"/": lambda: pmui.Page(main=["text"])}, port=0, address="localhost", show=False, start=False)
print("at http://localhost:%d/ " % server.port, flush=True)
server.run_until_shutdown()
"""


def start(command: list[str], browser: Browser) -> tuple[float, float]:
    """Seconds from the start of the process to its first answer, and to the painted page."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        url = next(line for line in process.stdout if "http://" in line).split("at ")[1].split()[0]
        urllib.request.urlopen(url, timeout=30).close()
        answered = time.perf_counter() - begin
        page = browser.new_page()
        page.goto(url)
        page.wait_for_function(IDLE, timeout=60_000)
        painted = time.perf_counter() - begin
        page.close()
        return answered, painted
    finally:
        process.terminate()
        process.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        store = str(Path(folder) / "runs.sqlite")
        ours = [
            sys.executable,
            "-m",
            "explorer.command_line",
            "app",
            "--no-browser",
            "--port",
            "0",
            "--store",
            store,
        ]
        bare = [sys.executable, "-c", BARE]
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for command in (bare, ours):
            start(command, browser)  # fills the disk cache
        times = [(start(bare, browser), start(ours, browser)) for _ in range(runs)]
        browser.close()
    for name, side in (("a bare Panel page", 0), ("the gallery", 1)):
        answered = statistics.median(pair[side][0] for pair in times)
        painted = statistics.median(pair[side][1] for pair in times)
        print(f"{name:20} first answer {answered:.2f} s, painted {painted:.2f} s (median of {runs})")
    ratio = statistics.median(pair[1][1] / pair[0][1] for pair in times)
    print(f"gallery / bare page, painted: {ratio:.2f}")


if __name__ == "__main__":
    main()
