"""A person's first visit: move a slider, press Train, see points arrive, press Stop, reload, find the run."""

from __future__ import annotations

import os
import signal

from browser_helpers import count, open_page, slider, step_of_E, wait_for_run

from explorer.runs import Store

MEASURED = "ladder-measured"


def test_gallery_leads_to_the_ladder(page, app):
    open_page(page, app.url)
    card = page.locator("a.sx-card").first
    assert "predict a bigger model" in card.inner_text()
    card.click()
    page.wait_for_url("**/ladder")
    page.get_by_role("button", name="Train").wait_for()
    assert "predict a bigger model" in page.title()


def test_slider_moves_curves_and_the_address(page, app):
    open_page(page, app.url + "ladder")
    assert abs(step_of_E(page) - 0.001) < 1e-9, "one step of E lifts every loss by one step"
    page.wait_for_function("() => window.location.search.includes('E=')")


def test_one_step_is_one_replacement_of_each_source(page, app):
    """No queue and no rebuilding: the glyphs stay, and each source's data changes once."""
    open_page(page, app.url + "ladder")
    page.evaluate(
        "() => { window.changes = 0; for (const d of Bokeh.documents) {"
        " const s = d.get_model_by_name('valleys-curves');"
        " if (s) s.properties.data.change.connect(() => { window.changes += 1 }) } }"
    )
    slider(page, "parameter exponent").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => window.changes > 0")
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.changes") == 1


def test_linked_sliders_follow(page, app):
    open_page(page, app.url + "ladder")
    field = page.get_by_label("N", exact=True)
    field.fill("7B")
    field.press("Enter")
    page.wait_for_function("() => window.location.search.includes('D=1.4e13')")
    assert page.get_by_label("D", exact=True).input_value() == "14T"
    assert page.get_by_label("C", exact=True).input_value() == "5.88e23"


def test_a_typed_value_out_of_bounds_is_told_and_changes_nothing(page, app):
    open_page(page, app.url + "ladder")
    field = page.get_by_label("alpha", exact=True)
    field.fill("7")
    field.press("Enter")
    page.get_by_text("alpha = 7 is outside 0.05 to 1").wait_for()
    assert page.evaluate("() => window.location.search") == ""


def test_link_restores_sliders(page, app):
    open_page(page, app.url + "ladder?alpha=0.4&N=1B&D=2e11")
    assert page.get_by_label("alpha", exact=True).input_value() == "0.4"
    assert page.get_by_label("N", exact=True).input_value() == "1B"
    assert page.get_by_label("D", exact=True).input_value() == "200B"


def test_broken_link_is_explained(page, app):
    open_page(page, app.url + "ladder?gama=0.4")
    page.get_by_text("ladder has no slider 'gama'").wait_for()
    page.get_by_role("button", name="Train").wait_for()
    open_page(page, app.url + "ladder?corpus=/etc/passwd")
    page.get_by_text("is not offered").wait_for()


def test_preset_sets_the_law(page, app):
    open_page(page, app.url + "ladder?N=3.218986e10&D=2.982306e12")
    page.get_by_label("Published values").click()
    page.get_by_role("menuitem", name="Hoffmann, as printed").click()
    page.wait_for_function("() => window.location.search.includes('A=406.4')")
    assert page.get_by_label("beta", exact=True).input_value() == "0.28"
    page.locator("dd", has_text="32.19B").wait_for()


def test_train_stop_reload_finds_the_run(page, app):
    open_page(page, app.url + "ladder")
    page.get_by_role("button", name="Train").click()
    page.wait_for_function(count(MEASURED) + " > 0", timeout=60_000)
    # While it trains, a slider still answers.
    step_of_E(page)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("the points so far are kept").wait_for(timeout=20_000)
    drawn = page.evaluate(count(MEASURED))
    assert drawn > 0
    open_page(page, app.url + "ladder")
    page.wait_for_function(f"{count(MEASURED)} >= {drawn}")
    page.get_by_text("the points so far are kept").wait_for()


def test_whole_run_ends_in_a_verdict_and_survives_a_restart(page, app):
    open_page(page, app.url + "ladder")
    page.get_by_role("combobox", name="Size").click()
    page.get_by_role("menuitem", name="quick").click()
    page.get_by_role("button", name="Train").click()
    page.locator("[data-verdict]").first.wait_for(timeout=240_000)
    verdict = page.locator("[data-verdict]").first.get_attribute("data-verdict")
    assert verdict in ("agrees", "disagrees", "too noisy to say")
    text = page.locator("[data-verdict]").first.inner_text()
    assert "under 0.03" in text and "seeds" in text
    points = page.evaluate(count(MEASURED))
    app.stop()
    app.start()
    open_page(page, app.url + "ladder")
    page.locator("[data-verdict]").first.wait_for()
    assert page.locator("[data-verdict]").first.inner_text() == text
    assert page.evaluate(count(MEASURED)) == points
    wait_for_run(page, app.url + "runs", verdict)


def test_figures_can_be_put_away_and_brought_out(page, app):
    open_page(page, app.url + "ladder")
    page.get_by_role("button", name="What repeating the data buys").click()
    page.wait_for_function(
        "() => Bokeh.documents.some(d => { const s = d.get_model_by_name('repetition-curves'); return s && s.data.y0 })"
    )


def test_phone_has_no_sideways_scroll(page, app):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, app.url + "ladder")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    slider(page, "parameters").wait_for()


def start_training(page):
    """Press Train and wait until this very run has measured something."""
    page.get_by_role("button", name="Train").click()
    page.get_by_role("button", name="Stop", disabled=False).wait_for(timeout=60_000)
    page.wait_for_function(count(MEASURED) + " > 0", timeout=60_000)


def test_two_tabs_see_one_run_and_a_closed_one_does_not_stop_it(page, app, browser):
    open_page(page, app.url + "ladder")
    start_training(page)
    second = browser.new_page()
    open_page(second, app.url + "ladder")
    page.goto("about:blank")
    seen = second.evaluate(count(MEASURED))
    second.wait_for_function(f"{count(MEASURED)} > {seen}", timeout=60_000)
    second.get_by_role("button", name="Stop").click()
    second.get_by_text("the points so far are kept").wait_for(timeout=20_000)
    second.get_by_role("button", name="Stop", disabled=True).wait_for()
    with Store(app.store, readonly=True) as store:
        points = store.runs(limit=1)[0].points
    second.wait_for_function(f"{count(MEASURED)} === {points}", timeout=10_000)
    second.close()


def test_a_killed_worker_is_told_and_the_next_one_trains(page, app):
    open_page(page, app.url + "ladder")
    start_training(page)
    with Store(app.store, readonly=True) as store:
        pid = store.runs(limit=1)[0].facts["pid"]
    os.kill(pid, signal.SIGKILL)
    page.get_by_text("The worker was killed by signal 9").first.wait_for(timeout=20_000)
    page.get_by_role("button", name="Stop", disabled=True).wait_for()
    start_training(page)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("the points so far are kept").first.wait_for(timeout=20_000)


def test_the_address_keeps_the_run(page, app):
    with Store(app.store, readonly=True) as store:
        older = store.runs(limit=2)[-1].id
    open_page(page, app.url + f"ladder?run={older}")
    slider(page, "irreducible loss").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        f"() => window.location.search.includes('run={older}') && window.location.search.includes('E=')"
    )
    assert "E=1.8182" in page.url


def test_a_trailing_slash_leads_to_the_page(page, app):
    open_page(page, app.url + "ladder/?alpha=0.4")
    assert page.url.endswith("/ladder?alpha=0.4")
    assert page.get_by_label("alpha", exact=True).input_value() == "0.4"


def test_a_lost_connection_is_told(page, app):
    open_page(page, app.url + "ladder")
    app.stop()
    page.get_by_text("The connection to Scaling Explorer is lost").first.wait_for(timeout=20_000)
    app.start()
