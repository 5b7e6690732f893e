"""What figures can hold beside lines: bars, heat maps, triangles, and measured points on them."""

import numpy as np
import pytest

from explorer.exhibits import Axis, Count, Curve, Exhibit, Paper, Surface, Table, agreement, figure, trial
from explorer.lab import Lab
from explorer.records import Point, PredictedCurve, Prediction, Series
from explorer.runs import Store
from widgets import ExhibitView, LawFigure, LiveRun, TablePanel
from widgets.surface_layer import _edges
from widgets.tables import table_html


class Kinds(Exhibit):
    """Which kinds of figures are there?"""

    slug = "kinds"
    paper = Paper("title", "authors", "venue")
    K = Count(3, bounds=(2, 5), label="domains", group="data")

    @figure("Bars", x=Axis("domain"), y=Axis("loss", "nats"))
    def bars(self):
        x, names = np.arange(self.K, dtype=float), tuple("abcde"[: self.K])
        low, high = np.full(self.K, 1.0), np.linspace(2, 3, self.K)
        return [
            Curve("floor", "floor", x, low, style="bars", names=names),
            Curve("rest", "rest", x, high, style="bars", base=low, names=names),
        ]

    @figure(
        "Map",
        x=Axis("eps", scale="log"),
        y=Axis("delta"),
        z=Axis("speed-up"),
        empty="Three domains only.",
    )
    def map(self):
        if self.K != 3:
            return []
        x, y = np.logspace(-2, 0, 5), np.linspace(0, 3, 4)
        z = np.add.outer(y, x)
        z[0, 0] = np.nan
        return [Surface("speed", x, y, z), Curve("edge", "edge", x, x)]

    @figure("Live", x=Axis("step"), y=Axis("loss"), live=True, empty="Press Train.")
    def live(self):
        return []

    @trial(figures=("live", "map"), seconds={"quick": 1, "default": 2}, title="Really train")
    def first(self, size):
        return {"seeds": 1}

    @trial(figures=("bars",), seconds={"quick": 1, "default": 2}, title="Only count")
    def second(self, size):
        return {"seeds": 1}

    @agreement(trial="first", claim="is small", threshold=1)
    def small(self, measured, sealed):
        raise NotImplementedError


def test_bars_stack_and_carry_their_names():
    view = LawFigure(exhibit := Kinds(), "bars")
    assert [type(one.glyph).__name__ for one in view.plot.renderers] == ["VBar", "VBar"]
    np.testing.assert_array_equal(view.source.data["base1"], [1, 1, 1])
    assert view.plot.xaxis[0].major_label_overrides == {0: "a", 1: "b", 2: "c"}
    exhibit.move(K=5)
    view.refresh()
    assert len(view.source.data["y1"]) == 5
    assert view.plot.xaxis[0].major_label_overrides[4] == "e"


def test_a_heat_map_covers_its_cells_and_goes_when_there_is_none():
    view = LawFigure(exhibit := Kinds(), "map")
    data = view._surface.source.data
    assert data["x"][0] == pytest.approx(10**-2.25)
    assert data["x"][0] + data["w"][0] == pytest.approx(10**0.25)
    assert (data["y"][0], data["h"][0]) == (-0.5, 4.0)
    assert (view.colours.low, view.colours.high) == (pytest.approx(0.0316, rel=1e-2), 4.0)
    assert view.plot.renderers[0].glyph.color_mapper is view.colours, "the map lies under the curves"
    exhibit.move(K=4)
    view.refresh()
    assert view._surface.source.data["z"] == []
    assert view._empty.visible
    assert "Three domains" in view._empty.object


def test_the_edges_of_one_cell():
    assert _edges(np.array([2.0]), "linear") == (1.5, 1.0)


@pytest.fixture
def run(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        run_id = store.create(exhibit="kinds", trial="first", size="s", sliders={}, arguments={}, seeds=1)
        yield type("Run", (), {"id": run_id, "lab": type("Shelf", (), {"store": store})})()


def test_one_run_is_drawn_on_all_figures_of_its_trial(run):
    exhibit = Kinds()
    live = LiveRun([LawFigure(exhibit, "live"), LawFigure(exhibit, "map")])
    run.predictions = lambda: {one.prediction.name: one for one in run.lab.store.predictions(run.id)}
    store = run.lab.store
    store.append(run.id, [Series("a", "live", "mix"), Series("b", "map", "mix", {"value": 2.5})])
    store.append(run.id, [Point("a", 1, 2), Point("b", 0.1, 2), Point("a", 2, 1)])
    store.seal(
        run.id,
        Prediction("best", "map", "law", {}, [PredictedCurve("o", "best", [0.2], [1.0], style="dots")]),
    )
    live.watch(run)
    on_live, on_map = live.layers
    assert on_live.points.data["x"] == [1, 2]
    assert on_map.points.data["value"] == [2.5]
    assert on_map.figure.plot.renderers[-1].glyph.size == 11, "a sealed point is a hollow dot"
    live.watch(None)
    assert on_map.points.data["x"] == []
    assert not on_live.figure.measured


def test_a_page_offers_every_trial_and_draws_a_figure_in_one_place(tmp_path):
    lab = Lab(tmp_path / "runs.sqlite", device="cpu")
    try:
        view = ExhibitView(Kinds(), lab)
        assert view.trials.options == {"Really train": "first", "Only count": "second"}
        assert view.trial.spec.name == "first"
        assert not view._places["map"].visible, "it stands above, where its points are drawn"
        assert view.trial._places["map"].visible
        assert not view.trial._places["live"].visible, "nothing is measured yet"
        assert view._places["bars"].visible
        view.trials.value = "second"
        assert view.trial.spec.name == "second"
        assert view._places["map"].visible
        assert not view._places["bars"].visible
        assert [bar.visible for bar in view._bars] == [False, True]
        view.close()
    finally:
        lab.close()


def test_a_table_escapes_and_writes_numbers():
    html = table_html(Table("<b>", ("schedule", "loss"), (("front", 0.44712), ("back", 7e9)), "note"))
    assert "&lt;b&gt;" in html
    assert "<td>0.4471</td>" in html
    assert "<td>7B</td>" in html
    panel = TablePanel()
    panel.display([])
    assert panel._pane.object == ""
