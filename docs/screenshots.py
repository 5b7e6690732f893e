"""Makes docs/images from the real app: a fresh store, one default training an exhibit, headless Chromium.

python docs/screenshots.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
IDLE = "() => window.Bokeh?.documents?.length && Bokeh.documents.every(d => d.is_idle)"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        store = ["--store", str(Path(folder) / "runs.sqlite")]
        program = [sys.executable, "-m", "explorer.command_line"]
        app = subprocess.Popen(
            [*program, "app", "--no-browser", "--port", "0", *store], stdout=subprocess.PIPE, text=True
        )
        try:
            assert app.stdout is not None
            url = app.stdout.readline().split(" at ")[1].split()[0]
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 1400, "height": 1180})
            for slug in ("ladder", "mars-gamma", "dropout-universality", "data-mixing"):
                page.goto(url + slug)
                page.wait_for_function(IDLE)
                page.get_by_role("button", name="Train").first.click()
                page.locator("[data-verdict]").first.wait_for(timeout=600_000)
                page.wait_for_timeout(1500)
                page.screenshot(path=IMAGES / f"{slug}.png")
            page.goto(url)
            page.wait_for_function(IDLE)
            page.wait_for_timeout(1000)
            page.screenshot(path=IMAGES / "gallery.png", clip={"x": 0, "y": 0, "width": 1400, "height": 420})
            browser.close()
        finally:
            app.terminate()
            app.wait(20)


if __name__ == "__main__":
    main()
