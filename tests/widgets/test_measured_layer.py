"""What a run measured, over a figure: streamed, thinned, sealed."""

import pytest

from explorer.exhibits import find
from explorer.lab import Training
from explorer.records import Point, PredictedCurve, Prediction, Series
from explorer.runs import Store
from widgets import LawFigure, LiveRun
from widgets.measured_layer import MOST_POINTS


class Shelf:
    """A lab as far as a layer needs one: a store."""

    def __init__(self, store):
        self.store = store


@pytest.fixture
def run(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        run_id = store.create(exhibit="ladder", trial="t", size="s", sliders={}, arguments={}, seeds=1)
        store.append(run_id, [Series("a", "ladder", "width 16"), Series("b", "other", "elsewhere")])
        yield Training(Shelf(store), run_id)


@pytest.fixture
def live():
    return LiveRun([LawFigure(find("ladder")(), "ladder")])


@pytest.fixture
def layer(live):
    return live.layers[0]


def add(run, start, stop):
    run.lab.store.append(run.id, [Point("a", float(n + 1), 2.0 + 1 / (n + 1)) for n in range(start, stop)])


def test_points_come_once_and_only_for_this_figure(run, live, layer):
    live.watch(run)
    add(run, 0, 3)
    run.lab.store.append(run.id, [Point("b", 1.0, 1.0)])
    assert live.update() == 3
    assert live.update() == 0
    assert layer.points.data["x"] == [1.0, 2.0, 3.0]
    assert set(layer.points.data["label"]) == {"width 16"}
    assert not layer.figure._empty.visible


def test_a_million_points_are_drawn_thinned_with_first_last_and_extremes(run, live, layer):
    for start in range(0, 1_000_000, 50_000):
        add(run, start, start + 50_000)
    live.watch(run)
    drawn = layer.points.data
    assert len(drawn["x"]) <= MOST_POINTS
    assert (drawn["x"][0], drawn["x"][-1]) == (1.0, 1e6)
    assert max(drawn["y"]) == 3.0
    assert run.run.points == 1_000_000


def test_a_long_live_run_is_thinned_and_keeps_its_beginning(run, live, layer):
    live.watch(run)
    for start in range(0, 20 * MOST_POINTS, MOST_POINTS):
        add(run, start, start + MOST_POINTS)
        live.update()
        assert len(layer.points.data["x"]) <= 5 * MOST_POINTS
    assert layer.points.data["x"][0] == 1.0
    assert layer.points.data["x"][-1] == 20.0 * MOST_POINTS


def test_sealed_curves_are_dashed_in_the_colour_of_their_points(run, live, layer):
    add(run, 0, 2)
    live.watch(run)
    run.lab.store.seal(
        run.id,
        Prediction(
            "bigger",
            "ladder",
            "law",
            {},
            [PredictedCurve("c", "width 16", [1.0, 2.0], [3.0, 2.0], [2.9, 1.9], [3.1, 2.1])],
            details={"scored_x": [1.5, 2.0]},
        ),
    )
    live.update()
    (line,) = [one for one in layer.figure.plot.renderers if type(one.glyph).__name__ == "Line"]
    assert line.glyph.line_color == layer.points.data["colour"][0]
    assert line.glyph.line_dash == [8, 5]
    assert [one for one in layer.figure.plot.renderers if type(one.glyph).__name__ == "VArea"]
    assert (layer._shade.left, layer._shade.right, layer._shade.visible) == (1.5, 2.0, True)
    live.watch(None)
    assert layer.points.data["x"] == []
    assert not layer._shade.visible
    assert len(layer.figure.plot.renderers) == 1
