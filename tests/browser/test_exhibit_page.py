"""Pages of exhibits with several trials: found, drawn, taught, run to a verdict, without a fault on the page."""

from __future__ import annotations

import re

import pytest
from browser_helpers import column, open_page
from playwright.sync_api import Page, expect

SLUGS = ("mars-gamma", "dropout-universality", "data-mixing")


def test_a_new_user_finds_them_in_the_first_row(page: Page, app) -> None:
    open_page(page, app.url)
    tops = {}
    for slug in ("ladder", *SLUGS):
        card = page.locator(f"a.sx-card[href$='{slug}']")
        expect(card).to_be_visible()
        box = card.bounding_box()
        assert box is not None
        tops[slug] = round(box["y"])
    assert len(set(tops.values())) == 1, tops


@pytest.mark.parametrize("slug", SLUGS)
def test_the_page_draws_and_every_step_of_its_lesson_can_be_taken(page: Page, app, slug: str) -> None:
    open_page(page, f"{app.url}{slug}")
    page.get_by_role("button", name="Lesson: what to try").click()
    forward = page.get_by_role("button", name="Next")
    place = page.get_by_role("status").filter(has_text=re.compile(r"^\d+ of \d+$"))
    expect(place).to_be_visible()
    steps = int(place.inner_text().split(" of ")[1])
    for step in range(2, steps + 1):
        forward.click()
        expect(place).to_have_text(f"{step} of {steps}", timeout=30_000)
    expect(forward).to_be_disabled()
    assert page.get_by_text("<em>").count() == 0, "Markdown has not touched a formula"


def test_a_check_without_training_runs_to_its_verdict(page: Page, app) -> None:
    open_page(page, f"{app.url}dropout-universality")
    page.get_by_role("combobox", name="Experiment").click()
    page.get_by_role("menuitem", name="random networks").click()
    page.wait_for_function(
        "() => Bokeh.documents.every(d => d.is_idle && d.get_model_by_name('correlation-measured'))"
    )
    page.get_by_role("combobox", name="Size").last.click()
    page.get_by_role("menuitem", name="quick").click()
    page.get_by_role("button", name="Train").click()
    verdict = page.locator("[data-verdict]").first
    verdict.wait_for(timeout=120_000)
    assert verdict.get_attribute("data-verdict") == "agrees"
    assert len(column(page, "correlation-measured", "y")) > 100


def test_dragging_a_bar_of_the_schedule_makes_it_a_custom_one(page: Page, app) -> None:
    open_page(page, f"{app.url}dropout-universality")
    before = column(page, "rates-curves", "y0")[:6]
    assert len(set(before)) == 1
    page.locator('[role=slider][aria-label^="1"]').first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    page.wait_for_function("() => location.search.includes('schedule=custom')")
    page.wait_for_function(
        "(old) => Bokeh.documents.some(d => d.get_model_by_name('rates-curves').data.y0[0] > old + 0.02)",
        arg=before[0],
    )
    after = column(page, "rates-curves", "y0")[:6]
    assert after[0] > before[0]
    assert sum(after) == pytest.approx(sum(before)), "the mean is held"


def test_moving_a_weight_moves_the_point_in_the_triangle(page: Page, app) -> None:
    open_page(page, f"{app.url}data-mixing")
    page.locator('.track[aria-label^="prose"]').focus()
    page.keyboard.press("PageUp")
    page.wait_for_function("() => location.search.includes('h=0.43')")
