"""An older store is brought up to date, wholly or not at all."""

import sqlite3

import pytest
from sample_run import new_run

from explorer.errors import StoreError
from explorer.runs import Store, schema

ADD_COLUMN = ("ALTER TABLE run ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",)
BROKEN = ("CREATE TABLE extra (a)", "INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def old(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        run_id = new_run(store)
    return tmp_path / "runs.sqlite", run_id


def test_a_step_is_applied_once_and_keeps_the_runs(old, monkeypatch):
    path, run_id = old
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, ADD_COLUMN])
    with pytest.raises(StoreError, match="older schema"):
        Store(path, readonly=True)
    for _ in range(2):
        with Store(path) as store:
            assert store.run(run_id).exhibit == "ladder" and store.health()["schema"] == len(
                schema.MIGRATIONS
            )


def test_a_step_that_fails_leaves_the_old_store(old, monkeypatch):
    path, run_id = old
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, BROKEN])
        with pytest.raises(StoreError, match="nowhere"):
            Store(path)
    with Store(path) as store:
        assert store.run(run_id).id == run_id and store.health()["schema"] == len(schema.MIGRATIONS)


def test_the_file_says_whose_it_is(old):
    connection = sqlite3.connect(old[0])
    assert connection.execute("PRAGMA application_id").fetchone()[0] == schema.APPLICATION_ID
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    connection.close()
