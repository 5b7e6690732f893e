"""The table that measured points become."""

import numpy as np

from explorer.records import Measured, PredictedCurve, Prediction, Series


def table():
    one = Series("a", "f", "A", {"width": 1, "seed": 0})
    two = Series("b", "f", "B", {"width": 2, "seed": 0, "role": "held out"})
    return Measured({"a": (one, [1, 2], [3, 4]), "b": (two, [5], [6])})


def test_selects_by_labels():
    assert [s.key for s, _, _ in table().where(width=2)] == ["b"]
    assert len(table().where(seed=0)) == 3
    assert len(table().where(width=9)) == 0
    assert "a" in table()


def test_columns_hold_the_labels_that_all_series_share():
    columns = table().columns()
    assert columns["width"].tolist() == [1, 1, 2]
    assert "role" not in columns
    assert columns["y"].dtype == np.float64
    assert Measured({}).columns()["x"].shape == (0,)


def test_frame_keeps_every_label():
    frame = table().frame()
    assert frame["role"].isna().tolist() == [True, True, False]
    assert Measured({}).frame().empty


def test_a_prediction_gives_its_curves_by_key():
    prediction = Prediction("p", "f", "law", {}, [PredictedCurve("k", "K", [1.0], [2.0])])
    assert prediction.curve("k").y == [2.0]
