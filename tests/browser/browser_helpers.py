"""What the browser tests read off a page: numbers out of Bokeh's models, never pixels."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page

IDLE = "() => window.Bokeh?.documents?.length && Bokeh.documents.every(d => d.is_idle)"


def open_page(page: Page, url: str) -> None:
    """Go there and wait until all of it is drawn."""
    page.goto(url)
    page.wait_for_function(IDLE, timeout=30_000)


def column(page: Page, source: str, name: str) -> list[float]:
    """A column of the source called `source`."""
    read: Any = page.evaluate(
        "([source, name]) => { for (const d of Bokeh.documents) {"
        " const s = d.get_model_by_name(source); if (s) return Array.from(s.data[name]) } return null }",
        [source, name],
    )
    assert read is not None, f"there is no source {source}"
    return read


def count(source: str) -> str:
    """JavaScript that tells how many rows the source has."""
    return (
        f"(() => {{ for (const d of Bokeh.documents) {{ const s = d.get_model_by_name('{source}');"
        " if (s) return s.data.x.length } return -1 })()"
    )


def slider(page: Page, label: str) -> Locator:
    """The slider whose name for screen readers starts with `label`."""
    return page.locator(f'input[type=range][aria-label^="{label}"]').first


def wait_for_run(page: Page, url: str, verdict: str) -> None:
    """The list of runs shows one with this verdict."""
    page.goto(url)
    page.get_by_text(verdict).first.wait_for()


def step_of_E(page: Page) -> float:
    """Move E by one key and wait until the loss curves have followed; by how much the loss has changed."""
    before = column(page, "loss_curves-curves", "y3")[100]
    slider(page, "irreducible loss").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "(old) => Bokeh.documents.some(d => {"
        " const s = d.get_model_by_name('loss_curves-curves'); return s && s.data.y3[100] !== old })",
        arg=before,
    )
    return column(page, "loss_curves-curves", "y3")[100] - before
