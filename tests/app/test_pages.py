"""Pages as Python makes them: addresses, broken exhibits, faults in words."""

import subprocess
import sys
from urllib.parse import urlencode

import pytest

from explorer.app.address import read_address, write_address
from explorer.app.exhibit_page import exhibit_page
from explorer.app.gallery import card
from explorer.app.server import pages, reachable_names, titles, told
from explorer.errors import BadInput
from explorer.exhibits import Entry, find
from explorer.lab import Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    opened = Lab(tmp_path_factory.mktemp("app") / "runs.sqlite", device="cpu")
    yield opened
    opened.close()


def text_of(page):
    """All text that the alerts of a page show."""
    return " ".join(str(getattr(one, "object", "")) for one in page.select() if hasattr(one, "object"))


def test_an_address_restores_every_digit():
    values = {"alpha": 0.1 + 0.2, "corpus": "prose", "seeds": 5, "account": "6ND + head"}
    assert read_address(write_address(values)) == {name: str(value) for name, value in values.items()}
    assert write_address({"N": 7e10, "C": 5.88e23}) == "?N=7e10&C=5.88e23"
    exhibit = find("ladder")()
    exhibit.restore(read_address(write_address({"alpha": 0.1 + 0.2})), trusted=False)
    assert exhibit.alpha == 0.1 + 0.2
    assert write_address({}) == ""
    assert write_address({"h": [0.1, 0.25], "w": (1.0, 0.0)}) == "?h=0.1,0.25&w=1,0"
    assert read_address("?h=0.1,0.25") == {"h": "0.1,0.25"}


def test_a_page_takes_no_path_from_its_address(lab):
    page = exhibit_page("ladder", lab, "?corpus=/etc/passwd")
    assert "is not offered" in text_of(page)


def test_unknown_runs_and_values_are_told(lab):
    assert "There is no run" in text_of(exhibit_page("ladder", lab, "?run=nothing"))
    assert "has no slider" in text_of(exhibit_page("ladder", lab, "?nothing=1"))
    assert "more values" in text_of(
        exhibit_page("ladder", lab, "?" + "&".join(f"a{i}=1" for i in range(500)))
    )


def test_a_broken_exhibit_is_listed_with_its_error(lab):
    html = card(Entry("broken", None, "ValueError: <b>"), lab)
    assert "cannot be loaded" in html
    assert "&lt;b&gt;" in html
    assert "href" not in html


def test_a_fault_is_a_sentence_on_the_page(caplog):
    def broken():
        raise ZeroDivisionError("by nothing")

    assert "This page could not be made: by nothing" in text_of(told(broken)())
    assert "ZeroDivisionError" in caplog.text

    def refused():
        raise BadInput("Not so.")

    assert "Not so." in text_of(told(refused)())


def test_another_host_is_served_only_under_its_own_names():
    assert reachable_names("localhost") == ["localhost"]
    assert reachable_names("192.0.2.7") == ["192.0.2.7"]
    everywhere = reachable_names("0.0.0.0")
    assert {"localhost", "127.0.0.1"} <= set(everywhere)
    assert "0.0.0.0" not in everywhere


def test_what_is_told_is_not_markup(lab):
    page = exhibit_page("ladder", lab, "?" + urlencode({"*a*<b>": "1"}))
    assert "&lt;b&gt;" in text_of(page)
    assert "<b>" not in text_of(page)


def test_every_exhibit_has_a_route_and_a_title(lab):
    assert {"/", "runs", "ladder"} <= set(pages(lab))
    assert titles()["ladder"].endswith("Scaling Explorer")


def test_serving_never_imports_torch():
    code = (
        "import sys, explorer.app, explorer.lab, widgets;"
        " from explorer.exhibits import discover; discover();"
        " print([m for m in ('torch', 'hvplot') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_page_does_not_follow_the_busy_mark():
    """Each flip of it would walk every model of the document."""
    import panel as pn

    from explorer.app.frame import frame

    page = frame("text")
    pn.state._add_busy_event("test")
    try:
        assert pn.state.busy
        assert not page.busy
    finally:
        pn.state._remove_busy_event("test")
