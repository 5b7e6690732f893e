"""A real app on a free port, a real store, a real headless Chromium. Nothing here is a stand-in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api") if os.environ.get("CI") != "true" else None
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None and os.environ.get("CI") != "true":
                item.add_marker(pytest.mark.skip(reason="no Chromium on this computer"))


class App:
    """The app as a person starts it: a process of its own, with a store that outlives it."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.process: subprocess.Popen[str] | None = None
        self.url = ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "explorer.command_line", "app", "--no-browser", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--store", str(self.store)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "http://" in line:
                self.url = line.split(" at ")[1].split()[0]
                break
        assert self.url, "the app did not say where it listens"
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                urllib.request.urlopen(self.url, timeout=10).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the app does not answer")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(20)
            self.process = None


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    running = App(tmp_path_factory.mktemp("store") / "runs.sqlite")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, app: App) -> Iterator[Page]:
    """A fresh page that fails on any error in it and on any request to another host."""
    fresh = browser.new_page(viewport={"width": 1400, "height": 1000})
    faults: list[str] = []
    fresh.on("pageerror", lambda error: faults.append(f"error on the page: {error}"))
    fresh.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((app.url, app.url.replace("http", "ws"), "data:", "blob:"))
            else faults.append(f"asked another host: {request.url}")
        ),
    )
    yield fresh
    fresh.close()
    assert not faults, faults
