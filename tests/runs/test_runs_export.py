"""A run as a file."""

import json
import os

import pandas as pd
import pytest
from sample_run import LOSS, points

from explorer.errors import BadInput
from explorer.records import Point, Series


@pytest.fixture
def filled(store, run_id):
    odd = Series("mixed", "other", 'Ölfaß, "quoted"', {"seed": 2, "width": "wide", "x": 7})
    store.append(run_id, [*points(3), odd, Point("mixed", 0.5, -1)])
    return run_id


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_point_with_its_labels(store, filled, tmp_path, kind):
    path = store.export(filled, tmp_path / f"run.{kind}")
    table = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert table["series"].tolist() == [LOSS.key] * 3 + ["mixed"]
    assert table["x"].tolist() == [0, 1, 2, 0.5] and table["y"].tolist()[-1] == -1
    assert table["seed"].tolist() == [1, 1, 1, 2] and table["width"].tolist() == ["64", "64", "64", "wide"]
    assert table["label x"].iloc[-1] == 7 and table["label"].iloc[-1] == 'Ölfaß, "quoted"'
    assert set(table["run"]) == {filled}


def test_parquet_says_where_it_comes_from(store, filled, tmp_path):
    from pyarrow import parquet

    path = store.export(filled, tmp_path / "run.parquet")
    about = json.loads(parquet.read_schema(path).metadata[b"scaling-explorer"])
    assert about["id"] == filled and about["facts"]["device"] == "cpu"


def test_a_run_without_points(store, run_id, tmp_path):
    assert len(pd.read_csv(store.export(run_id, tmp_path / "empty.csv"))) == 0
    assert len(pd.read_parquet(store.export(run_id, tmp_path / "empty.parquet"))) == 0


def test_another_suffix_or_place_is_refused(store, filled, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for name, words in [
        ("run.xlsx", "expected .csv or .parquet"),
        ("missing/run.csv", "Cannot export"),
        ("folder.csv", "is a folder"),
    ]:
        with pytest.raises(BadInput, match=words):
            store.export(filled, tmp_path / name)


def test_an_existing_file_that_cannot_be_written_is_unharmed(store, filled, tmp_path, as_nobody):
    folder = tmp_path / "closed"
    folder.mkdir()
    path = folder / "run.csv"
    path.write_text("precious")
    path.chmod(0o444)
    with as_nobody(), pytest.raises(BadInput, match="Permission denied"):
        store.export(filled, path)
    assert path.read_text() == "precious" and list(folder.iterdir()) == [path]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_gets_what_the_umask_leaves(store, filled, tmp_path, mask):
    before = os.umask(mask)
    try:
        path = store.export(filled, tmp_path / "run.csv")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_replaced_file_keeps_its_mode(store, filled, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("older")
    path.chmod(0o660)
    store.export(filled, path)
    assert path.stat().st_mode & 0o777 == 0o660 and "older" not in path.read_text()
