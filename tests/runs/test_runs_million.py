"""A run of a million points."""

import numpy as np
import pytest
from sample_run import LOSS, new_run

from explorer.records import Point
from explorer.runs import Store

COUNT = 1_000_000


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("million") / "runs.sqlite") as store:
        run_id = new_run(store)
        store.append(run_id, [LOSS])
        for start in range(0, COUNT, 20_000):
            store.append(
                run_id, [Point(LOSS.key, float(n), 1 / (n + 1)) for n in range(start, start + 20_000)]
            )
        yield store, run_id


def test_is_drawn_thinned_without_reading_it_all(million):
    store, run_id = million
    assert store.run(run_id).points == COUNT
    steps = []
    with store._connections.reading() as connection:
        connection.set_progress_handler(
            lambda: steps.append(1), 1000
        )  # one a thousand steps of SQLite's machine
    _, x, y = store.measured(run_id, 1000)[LOSS.key]
    assert len(x) <= 1000 and x[0] == 0 and x[-1] == COUNT - 1 and y.min() == 1 / COUNT
    assert len(steps) < 100
    fresh, new, cursor = store.since(run_id, {})
    assert len(fresh) == 1 and len(new) <= 2000 and cursor == {LOSS.key: COUNT}
    steps.clear()
    store.since(run_id, cursor)
    assert len(steps) <= 1


def test_is_exported_whole(million, tmp_path):
    store, run_id = million
    path = store.export(run_id, tmp_path / "run.csv")
    with path.open() as file:
        assert sum(1 for _ in file) == COUNT + 1
    from pyarrow import parquet

    table = parquet.read_table(store.export(run_id, tmp_path / "run.parquet"), columns=["x"])
    assert np.array_equal(table["x"].to_numpy(), np.arange(COUNT, dtype=float))
