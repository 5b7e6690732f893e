"""One source a figure, replaced whole; glyphs are rebuilt only when they must be."""

import numpy as np
import pytest

from explorer.exhibits import Curve, find
from widgets import LawFigure
from widgets.law_figure import pack, shape

Ladder = find("ladder")


def test_pack_sends_a_common_grid_once_and_pads_the_rest():
    x = np.arange(4.0)
    curves = [Curve("a", "", x, x), Curve("b", "", x, 2 * x), Curve("c", "", x[:1], x[:1], names=("here",))]
    columns = pack(curves)
    assert sorted(columns) == ["name2", "shift2", "side2", "x0", "x2", "y0", "y1", "y2"]
    assert columns["y1"] is curves[1].y
    assert columns["x2"].tolist()[0] == 0.0
    assert np.isnan(columns["x2"][1:]).all()
    assert columns["name2"] == ["here", "", "", ""]
    assert len({len(column) for column in columns.values()}) == 1


def test_shape_ignores_numbers_and_texts_but_not_styles():
    x = np.arange(3.0)
    one = [Curve("a", "L = 1", x, x)]
    assert shape(one) == shape([Curve("a", "L = 2", x + 1, x + 1)])
    assert shape(one) != shape([Curve("a", "L = 1", x, x, style="dashed")])


@pytest.mark.parametrize("figure", [name for name in Ladder.figures() if name != "ladder"])
def test_no_slider_of_the_ladder_rebuilds_a_figure(figure, monkeypatch):
    exhibit = Ladder()
    view = LawFigure(exhibit, figure)
    glyphs = list(view.plot.renderers)
    rebuilt = []
    monkeypatch.setattr(view, "_rebuild", rebuilt.append)
    for name, slider in exhibit.sliders().items():
        if not hasattr(slider, "bounds") or slider.group == "training":
            continue
        low, high = slider.get_soft_bounds()
        for place in (0.3, 0.6):
            value = low * (high / low) ** place if slider.scale == "log" else low + (high - low) * place
            exhibit.move(**{name: value})
            view.refresh()
    assert rebuilt == []
    assert view.plot.renderers == glyphs


def test_a_figure_is_left_alone_when_its_sliders_did_not_move():
    exhibit = Ladder()
    view = LawFigure(exhibit, "loss_curves")
    data = view.source.data
    exhibit.move(R_D=3.0)
    view.refresh()
    assert view.source.data is data
    exhibit.move(E=1.0)
    view.refresh()
    assert view.source.data is not data


def test_labels_follow_without_a_rebuild():
    exhibit = Ladder()
    view = LawFigure(exhibit, "plane")
    labels = [item.label.value for item in view.legend.items]
    exhibit.move(E=0.5)
    view.refresh()
    now = [item.label.value for item in view.legend.items]
    assert labels[0].startswith("L = ")
    assert labels[0] != now[0]
    assert labels[1:] == now[1:]


def test_an_empty_figure_says_why():
    view = LawFigure(Ladder(), "ladder")
    assert view._empty.visible
    assert "Press Train" in view._empty.object
