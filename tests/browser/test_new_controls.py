"""The bar editor and the simplex editor under a real pointer and keyboard, on a small page of their own."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import panel as pn
import pytest
from browser_helpers import open_page
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from explorer.balance import move_entry, move_weight, nearest_weights
from explorer.errors import BadInput
from explorer.numbers import read_number
from explorer.simplex import from_plane, to_plane
from widgets.bar_editor import BarEditor
from widgets.simplex_editor import SimplexEditor

SLOW = 0.04  # seconds that one change takes Python on the slow page


def bars(**params: Any) -> BarEditor:
    presets = {"uniform": (0.3,) * 6, "rising": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)}
    return BarEditor(
        value=(0.1, 0.2, 0.3, 0.4, 0.5, 0.3),
        high=0.6,
        label="dropout rate",
        hold_mean=False,
        presets=presets,
        **params,
    )


def three() -> SimplexEditor:
    return SimplexEditor(
        value=(0.5, 0.3, 0.2),
        names=("web", "code", "books"),
        label="data mixture",
        presets={"uniform": (1 / 3, 1 / 3, 1 / 3)},
        marks={"optimum": (0.3, 0.5, 0.2)},
    )


MAKERS: dict[str, Callable[[], BarEditor | SimplexEditor]] = {
    "bars": bars,
    "slow": lambda: bars(names=("a", "b", "c", "d", "e", "f")),
    "three": three,
    "five": lambda: SimplexEditor(value=(0.2,) * 5, locked=["5"]),
}


class Served:
    """A page for each maker; what its latest visitor does is in `editor` and `heard`."""

    def __init__(self) -> None:
        self.editor: Any = None
        self.heard: list[tuple[float, ...]] = []
        self.document: Any = None
        pages = {name: self._page(name, make) for name, make in MAKERS.items()}
        before = set(pn.state._servers)
        self.thread: Any = pn.serve(pages, port=0, address="127.0.0.1", threaded=True, show=False)
        until = time.monotonic() + 30
        while not (new := set(pn.state._servers) - before) and time.monotonic() < until:
            time.sleep(0.02)
        (key,) = new
        self.port = pn.state._servers[key][0].port

    def _page(self, name: str, make: Callable[[], Any]) -> Callable[[], Any]:
        def view() -> Any:
            self.editor, self.heard, self.document = make(), [], pn.state.curdoc
            self.editor.param.watch(self._moved(name), "value")
            return pn.Column(self.editor, width=420)

        return view

    def _moved(self, name: str) -> Callable[[Any], None]:
        heard = self.heard

        def moved(event: Any) -> None:
            if name == "slow":
                time.sleep(SLOW)
            if name == "five" and event.new[0] > 0.7:
                raise BadInput("No more than 0.7 of the first.")
            heard.append(event.new)

        return moved

    def say(self, **params: Any) -> None:
        """Set parameters where an app does it, under the lock of its document."""
        assert self.document is not None
        self.document.add_next_tick_callback(lambda: self.editor.param.update(**params))

    def stands(self, *values: float) -> None:
        """Wait until Python has these values."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            if self.editor.value == pytest.approx(values, abs=1e-9):
                return
            time.sleep(0.01)
        assert self.editor.value == pytest.approx(values, abs=1e-9)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    pn.extension()
    running = Served()
    yield running
    running.thread.stop()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One for all, so that scripts are loaded and compiled once."""
    touched = browser.new_context(viewport={"width": 460, "height": 640}, has_touch=True)
    yield touched
    touched.close()


@pytest.fixture
def visit(context: BrowserContext, served: Served) -> Iterator[Callable[[str], Page]]:
    """Open a page by its name; errors in it and requests to another host fail the test."""
    page = context.new_page()
    faults: list[str] = []
    own = (f"http://127.0.0.1:{served.port}/", f"ws://127.0.0.1:{served.port}/", "data:", "blob:")
    page.on("pageerror", lambda error: faults.append(f"error on the page: {error}"))
    page.on("request", lambda ask: None if ask.url.startswith(own) else faults.append(f"asked {ask.url}"))

    def go(name: str) -> Page:
        open_page(page, f"http://127.0.0.1:{served.port}/{name}")
        page.get_by_role("slider").first.wait_for()
        return page

    yield go
    page.close()
    assert not faults, faults


def height_of(page: Page, index: int, share: float) -> tuple[float, float]:
    """Where in the column of a bar its top has this share of the height."""
    box = page.get_by_role("slider").nth(index).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * (1 - share)


def drag(page: Page, *places: tuple[float, float]) -> None:
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=4)
    page.mouse.up()


def shown(page: Page) -> list[float]:
    return [float(bar.get_attribute("aria-valuenow") or "nan") for bar in page.get_by_role("slider").all()]


def enter(field: Locator, text: str) -> None:
    field.fill(text)
    field.press("Enter")


# -- bars -----------------------------------------------------------------------------------------------------


def test_a_bar_follows_the_mouse(visit, served):
    page = visit("bars")
    drag(page, height_of(page, 1, 0.3), height_of(page, 1, 0.75))
    assert shown(page)[1] == pytest.approx(0.45), "painted before Python has said anything"
    served.stands(0.1, 0.45, 0.3, 0.4, 0.5, 0.3)
    drag(page, height_of(page, 1, 0.5), (height_of(page, 1, 0.5)[0], 5))
    served.stands(0.1, 0.6, 0.3, 0.4, 0.5, 0.3)
    expect(page.get_by_label("value of 2")).to_have_value("0.6")


def test_dragging_across_bars_paints_them(visit, served):
    page = visit("bars")
    start, end = height_of(page, 0, 0.5), height_of(page, 5, 0.5)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end)  # at one leap: none is left out
    page.mouse.up()
    served.stands(*(0.3,) * 6)


def test_a_finger_paints(visit, served):
    page = visit("bars")
    touch = page.context.new_cdp_session(page)
    for kind, index in (("touchStart", 0), ("touchMove", 1), ("touchMove", 2), ("touchEnd", None)):
        places = [] if index is None else [dict(zip("xy", height_of(page, index, 0.9), strict=True))]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
    served.stands(0.54, 0.54, 0.54, 0.4, 0.5, 0.3)


def test_bars_by_keyboard(visit, served):
    page = visit("bars")
    page.get_by_role("switch").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("slider", name="1")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("slider", name="3")).to_be_focused()
    for key, value in (
        ("ArrowUp", 0.305),
        ("ArrowDown", 0.3),
        ("PageUp", 0.35),
        ("Shift+ArrowDown", 0.3),
        ("End", 0.6),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        served.stands(0.1, 0.2, value, 0.4, 0.5, 0.3)
    page.keyboard.press("Tab")
    expect(page.get_by_label("value of 3")).to_be_focused()


def test_a_number_is_typed(visit, served):
    page = visit("bars")
    field = page.get_by_label("value of 1")
    for text, value in (("20 %", 0.2), ("0.25", 0.25), ("3/10", 0.3), (".05", 0.05)):
        enter(field, text)
        served.stands(value, 0.2, 0.3, 0.4, 0.5, 0.3)
    expect(field).to_have_value("0.05")


def test_a_bad_number_changes_nothing(visit, served):
    page = visit("bars")
    field, told = page.get_by_label("value of 1"), page.get_by_role("alert")
    for text, sentence in (
        ("much", "“much” is not a number."),
        ("0.7", "0.7 is outside 0 to 0.6."),
        ("1/0", "is not a number"),
    ):
        enter(field, text)
        expect(told).to_contain_text(sentence)
        expect(field).to_have_value(text)
        field.press("Escape")
        expect(told).to_have_count(0)
        expect(field).to_have_value("0.1")
    assert served.heard == [] and shown(page)[0] == 0.1
    enter(field, "0.7")
    page.get_by_role("slider", name="2").press("ArrowRight")
    expect(told).to_have_count(0)  # it was about another bar
    page.get_by_role("switch").check()
    enter(page.get_by_label("value of 3"), "0")
    served.stands(*move_entry((0.1, 0.2, 0.3, 0.4, 0.5, 0.3), 2, 0, 0, 0.6, hold_mean=True))
    served.say(value=(0, 0, 0, 0, 0, 0.3))
    expect(page.get_by_label("value of 3")).to_have_value("0")
    expect(page.get_by_text("mean 0.05")).to_be_visible()
    enter(page.get_by_label("value of 3"), "0.5")
    expect(told).to_have_text("With the mean held at 0.05, 3 goes no further than 0.3.")


def test_a_held_mean_stays(visit, served):
    page = visit("bars")
    before = shown(page)
    page.get_by_role("switch", name="hold the mean").check()
    drag(page, height_of(page, 1, 0.4), height_of(page, 1, 0.9))
    dragged = move_entry(before, 1, 0.54, 0, 0.6, hold_mean=True)
    served.stands(*dragged)
    assert served.editor.hold_mean is True
    assert all(math.fsum(values) == pytest.approx(1.8) for values in served.heard)
    enter(page.get_by_label("value of 2"), "0.34")
    served.stands(*move_entry(dragged, 1, 0.34, 0, 0.6, hold_mean=True))


def test_a_drag_there_and_back_leaves_the_others_as_they_were(visit, served):
    page = visit("bars")
    before = shown(page)
    page.get_by_role("switch").check()
    top = (height_of(page, 4, 0.5)[0], 5)
    drag(page, height_of(page, 4, 0.83), top, height_of(page, 4, 0.01), height_of(page, 4, 5 / 6))
    served.stands(*before)


def test_presets_of_bars(visit, served):
    page = visit("bars")
    button = page.get_by_role("button", name="rising")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    served.stands(0, 0.1, 0.2, 0.3, 0.4, 0.5)
    expect(button).to_have_attribute("aria-pressed", "true")


def test_python_moves_bars(visit, served):
    page = visit("bars")
    served.editor.value = (0.6, 0, 0.6, 0, 0.6, 0)
    expect(page.get_by_role("slider", name="1")).to_have_attribute("aria-valuenow", "0.6")
    expect(page.get_by_label("value of 1")).to_have_value("0.6")
    served.editor.param.update(value=(0.1, 0.2), names=("first", "second"), presets={})
    expect(page.get_by_role("slider")).to_have_count(2)
    expect(page.get_by_role("slider", name="second")).to_have_attribute("aria-valuetext", "0.2")
    expect(page.get_by_role("button")).to_have_count(0)
    enter(page.get_by_label("value of first"), "0.5")
    served.stands(0.5, 0.2)


def test_the_browser_is_not_believed(visit, served, caplog):
    """What a script in the page makes up is refused, told, and the component shows again what stands."""
    page = visit("bars")
    mine = (
        "() => { for (const d of Bokeh.documents) for (const m of d._all_models.values()) if (m.data?.face) "
    )
    answered = (
        "(k) => Bokeh.documents.some(d => [...d._all_models.values()]"
        ".some(m => m.data?.face?.answer?.[0] === 'x' && m.data.face.answer[1] === k))"
    )
    forged = (
        "[1e9, 0, 0, 0, 0, 0]",
        "[0.1]",
        "'x'",
        "null",
        "[NaN, 0, 0, 0, 0, 0]",
        "['a', 0, 0, 0, 0, 0]",
    )
    for count, value in enumerate(forged, 1):
        page.evaluate(f"{mine} m.data.said = {{who: 'x', count: {count}, value: {value}}} }}")
        page.wait_for_function(answered, arg=count)
        page.get_by_role("alert").wait_for()
        assert served.editor.value == (0.1, 0.2, 0.3, 0.4, 0.5, 0.3)
        assert shown(page)[0] == 0.1
    page.evaluate(f"{mine} m.data.face = {{...m.data.face, high: 9, label: 'mine'}} }}")
    expect(page.get_by_text("mine")).to_be_visible()
    enter(page.get_by_label("value of 1"), "5")
    expect(page.get_by_role("alert")).to_contain_text("1 = 5 is outside 0 to 0.6")
    expect(page.get_by_text("dropout rate")).to_be_visible()
    assert served.editor.high == 0.6 and shown(page)[0] == 0.1
    page.get_by_role("slider", name="1").press("ArrowUp")
    served.stands(0.105, 0.2, 0.3, 0.4, 0.5, 0.3)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert not [record for record in caplog.records if record.exc_info]


def test_nothing_queues_however_slow_python_is(visit, served):
    page = visit("slow")
    x, y = height_of(page, 0, 0.1)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x, y - step)
    last, heard = shown(page)[0], len(served.heard)
    served.stands(last, 0.2, 0.3, 0.4, 0.5, 0.3)
    assert len(served.heard) - heard <= 3, "the one under way and the last one, not sixty"
    page.mouse.up()
    page.wait_for_timeout(200)
    assert shown(page)[0] == last == served.editor.value[0]


# -- weights --------------------------------------------------------------------------------------------------


def track(page: Page, name: str, share: float) -> tuple[float, float]:
    box = page.get_by_role("slider", name=name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] * share, box["y"] + box["height"] / 2


def corner(page: Page, name: str) -> tuple[float, float]:
    """Where the triangle's corner for one of the three names is."""
    index = {"web": 0, "code": 1, "books": 2}[name]
    x, y = page.evaluate(
        "(index) => { const find = (root) => { for (const e of root.querySelectorAll('*')) {"
        " if (e.matches('polygon.side')) return e;"
        " const inside = e.shadowRoot && find(e.shadowRoot); if (inside) return inside } };"
        " const side = find(document); const at = side.points[index].matrixTransform(side.getScreenCTM());"
        " return [at.x, at.y] }",
        index,
    )
    return x, y


def test_a_weight_follows_the_mouse_and_the_others_give(visit, served):
    page = visit("three")
    drag(page, track(page, "web", 0.5), track(page, "web", 0.8))
    served.stands(*move_weight((0.5, 0.3, 0.2), 0, 0.8))
    drag(page, track(page, "web", 0.8), track(page, "web", 1), track(page, "web", 0.5))
    served.stands(0.5, 0.3, 0.2)
    assert all(abs(math.fsum(values) - 1) < 1e-12 for values in served.heard)


def test_a_locked_weight_stays(visit, served):
    page = visit("three")
    page.get_by_role("button", name="lock books").click()
    drag(page, track(page, "web", 0.5), track(page, "web", 0.99))
    served.stands(0.8, 0, 0.2)
    assert served.editor.locked == ["books"]
    drag(page, track(page, "books", 0.2), track(page, "books", 0.9))
    field = page.get_by_label("weight of code")
    enter(field, "0.9")
    expect(page.get_by_role("alert")).to_have_text("The locked ones leave code at most 0.8.")
    served.stands(0.8, 0, 0.2)
    drag(page, corner(page, "code"), corner(page, "books"))
    served.stands(0.4, 0.4, 0.2)
    page.get_by_role("button", name="lock books").click()
    drag(page, corner(page, "code"), corner(page, "books"))
    served.stands(0, 0, 1)


def test_the_point_follows_the_mouse(visit, served):
    page = visit("three")
    drag(page, corner(page, "books"), corner(page, "code"))
    served.stands(0, 1, 0)
    drag(page, corner(page, "code"), (1, 600))  # far outside: the nearest mixture
    served.stands(1, 0, 0)
    assert all(abs(math.fsum(values) - 1) < 1e-12 for values in served.heard)


def test_weights_by_keyboard(visit, served):
    page = visit("three")
    page.get_by_role("application").focus()
    values: tuple[float, ...] = (0.5, 0.3, 0.2)
    for key, index, step in (("Left", 0, 0.01), ("Right", 1, 0.01), ("Up", 2, 0.01), ("Down", 2, -0.01)):
        page.keyboard.press(f"Arrow{key}")
        values = move_weight(values, index, values[index] + step)
        served.stands(*values)
    page.keyboard.press("Shift+ArrowLeft")
    values = move_weight(values, 0, values[0] + 0.1)
    served.stands(*values)
    page.get_by_role("slider", name="books").focus()
    for key, value in (("End", 1), ("Home", 0), ("PageUp", 0.1), ("ArrowRight", 0.11), ("ArrowDown", 0.1)):
        page.keyboard.press(key)
        served.stands(*move_weight(values, 2, value))


def test_a_weight_is_typed(visit, served):
    page = visit("three")
    for text, value in (("30 %", 0.3), ("3/4", 0.75), ("0.5", 0.5)):
        enter(page.get_by_label("weight of web"), text)
        served.stands(value, (1 - value) * 0.6, (1 - value) * 0.4)


def test_a_bad_weight_changes_nothing(visit, served):
    page = visit("three")
    field, told = page.get_by_label("weight of code"), page.get_by_role("alert")
    for text, sentence in (
        ("half", "“half” is not a weight."),
        ("1.2", "1.2 is outside 0 to 1."),
        ("-1 %", "outside 0 to 1"),
    ):
        enter(field, text)
        expect(told).to_contain_text(sentence)
        assert served.heard == [] and shown(page) == [0.5, 0.3, 0.2]
        field.press("Escape")
        expect(told).to_have_count(0)


def test_presets_and_marks(visit, served):
    page = visit("three")
    expect(page.locator("circle.mark")).to_have_count(1)
    page.get_by_role("button", name="uniform").click()
    served.stands(1 / 3, 1 / 3, 1 / 3)
    expect(page.get_by_label("weight of books")).to_have_value("0.3333")
    served.say(marks={"optimum": (1, 0, 0), "natural": (0, 1, 0)})
    expect(page.locator("circle.mark")).to_have_count(2)


def test_python_may_refuse_and_correct(visit, served):
    page = visit("five")
    expect(page.get_by_role("application")).to_have_count(0)
    enter(page.get_by_label("weight of 1"), "0.75")
    expect(page.get_by_role("alert")).to_have_text("No more than 0.7 of the first.")
    expect(page.get_by_label("weight of 1")).to_have_value("0.2")
    served.stands(*(0.2,) * 5)
    served.say(value=(0.6, 0.1, 0.1, 0.1, 0.1))
    expect(page.get_by_label("weight of 1")).to_have_value("0.6")
    expect(page.get_by_role("alert")).to_have_count(0)


# -- twins ----------------------------------------------------------------------------------------------------


def evaluate(page: Page, script: str, body: str, cases: Any) -> Any:
    """What functions of an editor's script make of each case."""
    return page.evaluate(
        "async ([script, cases]) => {"
        " const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));"
        f" const made = await import(url); return cases.map({body}) }}",
        [script, cases],
    )


def test_the_rules_are_the_same_in_both_languages(visit):
    page = visit("three")
    chance = random.Random(0)
    mixtures = []
    for _ in range(200):
        raw = [chance.choice((0, chance.random())) for _ in range(chance.randint(2, 8))]
        raw[chance.randrange(len(raw))] += 0.1
        weights = [weight / sum(raw) for weight in raw]
        locked = [i for i in range(len(raw)) if chance.random() < 0.3]
        aim = [chance.uniform(-0.5, 1.5) for _ in raw]
        mixtures.append([weights, chance.randrange(len(raw)), chance.uniform(-0.2, 1.2), locked, aim])
    said = evaluate(
        page,
        SimplexEditor._esm,
        "([w, i, v, locked, aim]) => [made.moveWeight(w, i, v, locked), made.nearestWeights(aim, w, locked)]",
        mixtures,
    )
    for (weights, index, value, locked, aim), (moved, near) in zip(mixtures, said, strict=True):
        assert moved == pytest.approx(move_weight(weights, index, value, locked), abs=1e-12)
        assert near == pytest.approx(nearest_weights(aim, weights, locked), abs=1e-12)

    places = [[chance.uniform(-1, 2), chance.uniform(-1, 2)] for _ in range(100)]
    body = "([x, y]) => made.nearestWeights(made.fromPlane(x, y), [1, 0, 0])"
    for (x, y), weights in zip(places, evaluate(page, SimplexEditor._esm, body, places), strict=True):
        assert weights == pytest.approx(from_plane(x, y), abs=1e-12)
    spots = evaluate(page, SimplexEditor._esm, "(w) => made.toPlane(w)", [[0.5, 0.3, 0.2], [0, 0, 1]])
    assert spots[0] == pytest.approx([float(axis) for axis in to_plane([0.5, 0.3, 0.2])])
    rounded = evaluate(page, SimplexEditor._esm, "([w]) => made.roundWeights(w)", mixtures)
    assert all(math.fsum(weights) == pytest.approx(1, abs=1e-12) for weights in rounded)

    profiles = []
    for _ in range(200):
        low = chance.uniform(-2, 1)
        high = low + chance.uniform(0.1, 2)
        values = [chance.choice((low, high, chance.uniform(low, high))) for _ in range(chance.randint(1, 9))]
        where = chance.randrange(len(values))
        profiles.append([values, where, chance.uniform(-3, 3), low, high, chance.random() < 0.7])
    moved = evaluate(page, BarEditor._esm, "(one) => made.moveEntry(...one)", profiles)
    for (values, index, value, low, high, hold), now in zip(profiles, moved, strict=True):
        assert now == pytest.approx(move_entry(values, index, value, low, high, hold), abs=1e-12)


def test_numbers_are_read_as_python_reads_them(visit):
    page = visit("three")
    texts = ["0.2", " .5 ", "3.", "1e-3", "-2E2", "70B", "1.4T", "125M", "1_000", "1,000,000", "+7 k"]
    wrong = ["", "x", "1,0", "0,5", "--1", "1e", "1e999", "5 %%x", "1/0", "1/2/3", "NaN", "Infinity", "0x10"]
    read = evaluate(page, BarEditor._esm, "(text) => String(made.readNumber(text))", texts + wrong)
    assert [float(text) for text in read[: len(texts)]] == pytest.approx(
        [read_number(text) for text in texts]
    )
    assert set(read[len(texts) :]) == {"NaN"}
    more = evaluate(page, BarEditor._esm, "(text) => made.readNumber(text)", ["20 %", "3/10", "30%", "−0.5"])
    assert more == pytest.approx([0.2, 0.3, 0.3, -0.5])
