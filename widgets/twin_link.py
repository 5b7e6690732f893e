"""Lets the browser draw a figure's curves while a slider moves, and Python follow when it rests."""

from __future__ import annotations

import json
from typing import Any

from bokeh.models import ColumnDataSource

from explorer.exhibits import Curve, Exhibit
from widgets.law_figure import LawFigure, shared_x
from widgets.sliders import QuantitySlider

# What a slider stands for, then every curve of the figure that hangs on it, in place, and one repaint.
MOVE = """
const values = {};
for (const [name, column] of Object.entries(board.data)) values[name] = column[0];
values[name] = ((count) => VALUE)(cb_obj.value);
const data = drawn.data;
if (data[curves[0].ycolumn] === undefined) return;
for (const curve of curves) {
  const inputs = {...values, ...curve.constants, x: data[curve.xcolumn]};
  if (curve.moves) inputs.x = data[curve.xcolumn] = curve.x(inputs);
  data[curve.ycolumn] = curve.y(inputs);
}
drawn.change.emit();
"""


class TwinLink:
    """Wires one figure to the sliders that a browser can follow without Python.

    A figure is followed for a slider if each of its curves has a twin, and the slider moves no other one that the
    figure needs. Made before the page is drawn: what is linked later is not heard.

    Args:
        exhibit: whose sliders they are.
        figure: with its curves drawn.
        controls: the exhibit's sliders by name.
        board: a source whose columns hold every number slider's value; kept up by `values`.
    """

    def __init__(
        self,
        exhibit: Exhibit,
        figure: LawFigure,
        controls: dict[str, Any],
        board: ColumnDataSource,
    ) -> None:
        self.followed: frozenset[str] = frozenset()
        curves = [one for one in exhibit.curves(figure.spec.name) if isinstance(one, Curve)]
        if not curves or figure.colours is not None or any(curve.twin is None for curve in curves):
            return
        needs = set().union(*(curve.twin.sliders for curve in curves if curve.twin is not None))
        followed = []
        for name in sorted(needs):
            control = controls.get(name)
            if not isinstance(control, QuantitySlider) or _moves_others(exhibit, name, needs):
                continue
            control.slider.jscallback(
                value=_code(control, name, curves), args={"drawn": figure.source, "board": board}
            )
            followed.append(name)
        self.followed = frozenset(followed)


def values(exhibit: Exhibit) -> dict[str, list[float]]:
    """One row: the value of every slider that is a number."""
    return {name: [value] for name, value in exhibit.values().items() if isinstance(value, int | float)}


def _moves_others(exhibit: Exhibit, name: str, needs: set[str]) -> bool:
    """Whether another of these sliders follows when `name` moves."""
    return bool(set(exhibit.settle({name})) & (needs - {name}))


def _code(control: QuantitySlider, name: str, curves: list[Curve]) -> str:
    """The callback of one slider: its value from the step it stands at, and the curves that hang on it."""
    entries = []
    for slot, (x, curve) in enumerate(zip(shared_x(curves), curves, strict=True)):
        twin = curve.twin
        if twin is None or name not in twin.sliders:
            continue
        move, y = twin.javascript()
        entries.append(
            f"{{xcolumn: 'x{x}', ycolumn: 'y{slot}', moves: {json.dumps(bool(twin.x))}, x: {move}, y: {y}, "
            f"constants: {json.dumps(dict(twin.constants))}}}"
        )
    listed = ",\n".join(entries)
    head = f"const name = {json.dumps(name)};\nconst curves = [{listed}];\n"
    return head + MOVE.replace("VALUE", control.javascript_value())


def make_board(exhibit: Exhibit) -> ColumnDataSource:
    """Where a page's callbacks find the sliders that are not moving."""
    return ColumnDataSource(data=values(exhibit), name="sliders")
