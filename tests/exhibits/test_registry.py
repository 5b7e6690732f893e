"""Discovery: without torch, and a broken or slow exhibit takes nothing else down."""

import subprocess
import sys
import time

import pytest

from explorer.errors import BadInput
from explorer.exhibits import Exhibit, Surface, discover, find, registry


def test_finds_the_ladder_first():
    entries = discover()
    assert entries[0].slug == "ladder"
    assert all(entry.cls is not None for entry in entries), [e.error for e in entries if e.error]


@pytest.mark.parametrize("entry", discover(), ids=lambda e: e.slug)
def test_every_exhibit_keeps_the_contract(entry):
    cls = entry.cls
    assert cls.question().strip()
    assert cls.paper.citation
    assert cls.lesson().strip(), "a lesson of two minutes"
    exhibit = cls()
    for name in cls.figures():
        for curve in exhibit.curves(name):
            if isinstance(curve, Surface):
                assert cls.figures()[name].z is not None, "colours need an axis"
                assert curve.z.shape == (len(curve.y), len(curve.x))
                continue
            assert curve.x.shape == curve.y.shape
            assert curve.x.dtype == curve.y.dtype == float
    for spec in cls.trials().values():
        assert set(spec.figures) <= set(cls.figures())
        assert {"quick", "default"} <= set(spec.sizes)
        assert cls.agreements(spec.name), "a trial is judged by at least one number"
    for values in cls.presets.values():
        cls(**values)


def test_discovery_imports_neither_torch_nor_panel():
    code = (
        "import sys; from explorer.exhibits import discover; discover();"
        " print([m for m in ('torch', 'panel', 'bokeh', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_broken_exhibit_is_listed_with_its_error():
    def broken() -> type[Exhibit]:
        raise RuntimeError("no such luck")

    entry = registry._load("broken", broken, 5)
    assert entry.cls is None
    assert entry.error == "RuntimeError: no such luck"


def test_a_slow_exhibit_is_listed_as_slow():
    entry = registry._load("slow", lambda: time.sleep(30), 0.05)
    assert entry.cls is None
    assert "longer than 0.05 s" in entry.error


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"slug": "other"}, "calls itself 'other'"),
        ({"__doc__": ""}, "needs a question"),
        ({"paper": None}, "needs a question"),
    ],
)
def test_a_class_that_breaks_the_contract_is_listed_with_what_is_wrong(change, said):
    made = type(
        "Made", (Exhibit,), {"__doc__": "Why?", "paper": find("ladder").paper, "slug": "made", **change}
    )
    assert said in registry._load("made", lambda: made, 5).error


def test_an_exhibit_that_leaves_python_is_listed_too():
    def leaves() -> type[Exhibit]:
        raise SystemExit(3)

    assert "SystemExit" in registry._load("leaves", leaves, 5).error


def test_unknown_exhibit_is_told():
    with pytest.raises(BadInput, match="Did you mean 'ladder'"):
        find("lader")
