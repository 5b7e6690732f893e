"""What cannot be used is refused in one sentence, and left as it was."""

import sqlite3
import threading

import pytest
from sample_run import LOSS, new_run, points

from explorer.errors import StoreError
from explorer.runs import Store, schema
from explorer.runs.connections import Connections


def test_not_a_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"These are my notes, not a database. " * 10)
    with pytest.raises(StoreError, match="not a database"):
        Store(path)
    assert path.read_bytes().startswith(b"These") and list(tmp_path.iterdir()) == [path]


def test_a_database_of_another_program(tmp_path):
    path = tmp_path / "mail.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mail (text)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_newer_schema(tmp_path):
    path = tmp_path / "runs.sqlite"
    Store(path).close()
    newer = len(schema.MIGRATIONS) + 1
    with sqlite3.connect(path) as future:
        future.execute(f"PRAGMA user_version = {newer}")
    for readonly in (False, True):
        with pytest.raises(StoreError, match=f"schema {newer}.*newer Scaling Explorer"):
            Store(path, readonly=readonly)


def test_places_that_cannot_hold_a_store(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for path, words in [
        (tmp_path, "is a folder"),
        (tmp_path / "missing" / "runs.sqlite", "does not exist"),
        (file / "runs.sqlite", "is a file"),
    ]:
        with pytest.raises(StoreError, match=words):
            Store(path)
    with pytest.raises(StoreError, match="no store"):
        Store(tmp_path / "none.sqlite", readonly=True)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        run_id = new_run(store)
        store.append(run_id, [LOSS, *points(5000)])
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"), Store(path) as store:
        store.measured(run_id)


def test_a_full_disk_keeps_what_was_stored_and_goes_on_when_there_is_room(store, run_id):
    store.append(run_id, points(100))
    writer = store._connections._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages + 2}")  # SQLite then answers SQLITE_FULL
    with pytest.raises(StoreError, match="disk is full"):
        store.append(run_id, points(10_000, start=100))
    assert len(store.measured(run_id)) == store.run(run_id).points == 100
    writer.execute("PRAGMA max_page_count = 1000000")
    store.append(run_id, points(10_000, start=100))
    assert len(store.measured(run_id)) == 10_100 and store.health()["integrity"] == "ok"


def test_a_read_only_file(tmp_path, as_nobody):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        run_id = new_run(store)
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    with as_nobody():
        with pytest.raises(StoreError, match="read-only"):
            Store(path)
        with Store(path, readonly=True) as store:
            assert store.run(run_id).state == "queued"
            with pytest.raises(StoreError, match="for reading"):
                new_run(store)
    tmp_path.chmod(0o755)


def test_a_read_only_folder(tmp_path, as_nobody):
    tmp_path.chmod(0o555)
    with as_nobody(), pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "runs.sqlite")
    tmp_path.chmod(0o755)


def test_locked_by_another_process(tmp_path):
    path = tmp_path / "runs.sqlite"
    Store(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StoreError, match="locked"):
            Connections(path, busy_seconds=0.1)
        with Store(path, readonly=True) as reader:
            assert reader.runs() == []  # reading needs no lock
    finally:
        other.close()


def test_reading_only_writes_nothing(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        run_id = new_run(store)
    with Store(path, readonly=True) as reader:
        for write in (
            lambda: new_run(reader),
            lambda: reader.append(run_id, [LOSS]),
            lambda: reader.finish(run_id, "finished"),
        ):
            with pytest.raises(StoreError, match="for reading"):
                write()


def test_a_fault_in_one_thread_leaves_the_writer_free(store, run_id):
    with pytest.raises(RuntimeError), store._connections.writing():
        raise RuntimeError
    thread = threading.Thread(target=store.append, args=(run_id, points(1)))
    thread.start()
    thread.join(5)
    assert store.run(run_id).points == 1
