"""What is written is read back, as one story of a run."""

import threading

import numpy as np
import pytest
from sample_run import LOSS, new_run, points

from explorer.agreement import Agreement
from explorer.errors import BadInput, StoreError
from explorer.records import Point, Progress, Series
from explorer.runs import Store, default_path


def test_a_run_from_queue_to_end(store):
    run_id = new_run(store, sliders={"alpha": np.float64(0.3)}, session="s1")
    queued = store.run(run_id)
    assert (queued.state, queued.open, queued.started, queued.device) == ("queued", True, None, "")
    store.begin(run_id, {"device": "cpu", "dtype": "float32", "versions": {"torch": "2"}})
    store.append(run_id, [LOSS, *points(3)])
    store.progress(run_id, Progress(0.5, 1000, "half"))
    store.finish(run_id, "finished", "")
    run = store.run(run_id)
    assert (run.state, run.points, run.series, run.seeds, run.session) == ("finished", 3, 1, 2, "s1")
    assert (run.device, run.dtype, run.versions) == ("cpu", "float32", {"torch": "2"})
    assert run.sliders == {"alpha": 0.3} and run.arguments == {"widths": [32, 64]}
    assert run.progress == Progress(0.5, 1000, "half")
    assert run.created <= run.started <= run.finished


def test_measured_is_what_was_appended(store, run_id):
    other = Series("h=32 seed 1", "curve", "width 32", {"width": 32, "seed": 1})
    store.append(run_id, [Point(LOSS.key, 1, 0.5), other, Point(other.key, 1, 0.7), Point(LOSS.key, 2, 0.4)])
    measured = store.measured(run_id)
    series, x, y = measured[LOSS.key]
    assert series == LOSS and x.tolist() == [1, 2] and y.tolist() == [0.5, 0.4]
    assert [s.key for s, _, _ in measured] == [LOSS.key, other.key]
    assert len(measured.where(width=32)) == 1


def test_since_tells_each_point_once(store, run_id):
    fresh, new, cursor = store.since(run_id, {})
    assert (fresh, new) == ([LOSS], [])
    store.append(run_id, points(2))
    fresh, new, cursor = store.since(run_id, cursor)
    assert fresh == [] and new == [(LOSS.key, 0.0, 1.0), (LOSS.key, 1.0, 0.5)]
    assert store.since(run_id, cursor) == ([], [], cursor)


def test_since_thins_a_backlog_and_goes_on_from_its_end(store, run_id):
    store.append(run_id, points(1000))
    _, new, cursor = store.since(run_id, {}, most=50)
    assert len(new) <= 50 and new[0][1] == 0 and new[-1][1] == 999
    store.append(run_id, points(1000, start=1000))
    _, new, _ = store.since(run_id, cursor, most=50)
    assert len(new) <= 50 and new[0][1] == 1000 and new[-1][1] == 1999


def test_runs_are_listed_newest_first(store):
    ids = [new_run(store, trial="widths" if i % 2 else "depths") for i in range(5)]
    assert [run.id for run in store.runs()] == ids[::-1]
    assert [run.id for run in store.runs("ladder", "widths")] == [ids[3], ids[1]]
    assert [run.id for run in store.runs(limit=2, offset=1)] == [ids[3], ids[2]]
    assert store.count() == 5 and store.count("ladder", "widths") == 2


def test_a_point_that_is_not_finite_is_refused_with_its_whole_batch(store, run_id):
    with pytest.raises(BadInput, match=r"\(1, nan\) in the series 'h=64 seed 1'.*finite"):
        store.append(run_id, [*points(1), Point(LOSS.key, 1, float("nan"))])
    assert store.run(run_id).points == len(store.measured(run_id)) == 0


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([Point("h=65", 1, 1)], "'h=65', which was not declared"),
        ([Series(LOSS.key, "curve", "another", {})], "declared twice"),
    ],
)
def test_a_series_is_declared_once_and_first(store, run_id, records, words):
    with pytest.raises(BadInput, match=words):
        store.append(run_id, records)
    store.append(run_id, [LOSS])  # the same again is no harm
    assert store.run(run_id).series == 1


def test_nothing_is_added_to_a_run_that_ended(store, run_id):
    store.finish(run_id, "stopped", "Stopped.")
    with pytest.raises(BadInput, match="has ended"):
        store.append(run_id, points(1))
    store.finish(run_id, "failed", "too late")
    assert store.run(run_id).state == "stopped"
    with pytest.raises(BadInput, match="final state"):
        store.finish(run_id, "running", "")


def test_the_latest_agreement_of_a_name_counts(store, run_id):
    first = Agreement("gap", "gap < 0.1", float("nan"), 0.1, None, "too noisy to say", 1, 0)
    second = Agreement(
        "gap", "gap < 0.1", 0.05, 0.1, (0.04, float("inf")), "agrees", 3, 9, baselines={"mean": 0.2}
    )
    store.record_agreement(run_id, first)
    assert store.agreements(run_id)[0].verdict == "too noisy to say"
    store.record_agreement(run_id, second)
    assert store.agreements(run_id) == [second]


def test_an_unknown_run_is_answered_with_the_nearest(store, run_id):
    for ask in (store.run, store.measured, store.predictions, store.delete):
        with pytest.raises(BadInput, match=f"nearest id is '{run_id}'"):
            ask(run_id[:-1] + "x")
    with pytest.raises(BadInput, match="no run"):
        store.since("?", {})


def test_an_empty_store_says_so(store):
    with pytest.raises(BadInput, match="is empty"):
        store.run("a")


def test_arguments_must_be_json(store):
    with pytest.raises(BadInput, match="arguments"):
        new_run(store, arguments={"model": object()})
    assert store.count() == 0


def test_delete_takes_all_of_the_run_and_nothing_else(store, run_id):
    other = new_run(store)
    store.append(other, [LOSS, *points(2)])
    store.append(run_id, points(5))
    store.finish(run_id, "finished")
    store.delete(run_id)
    assert [run.id for run in store.runs()] == [other] and len(store.measured(other)) == 2
    with store._connections.reading() as connection:
        for table, left in {"point": 2, "series": 1}.items():
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == left


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_run_that_has_not_ended_is_not_deleted(store, state):
    run_id = new_run(store)
    if state == "running":
        store.begin(run_id, {})
    with pytest.raises(BadInput, match=f"still {state}, in process .* Stop it first"):
        store.delete(run_id)
    assert store.run(run_id).state == state
    store.finish(run_id, "stopped")
    store.delete(run_id)
    assert store.count() == 0


def test_health(store, run_id):
    store.append(run_id, points(4))
    health = store.health()
    assert health["integrity"] == "ok" and health["runs"] == 1 and health["points"] == 4
    assert health["size"] > 0 and health["path"] == str(store.path)


def test_a_reader_does_not_wait_for_the_writer(store, run_id):
    with store._connections.writing():  # a transaction that is not over
        seen = []
        thread = threading.Thread(target=lambda: seen.append(store.run(run_id).state))
        thread.start()
        thread.join(5)
        assert seen == ["running"]


def test_many_threads_write_and_read(store):
    ids = [new_run(store) for _ in range(4)]

    def work(run_id):
        store.append(run_id, [LOSS])
        for i in range(20):
            store.append(run_id, points(5, start=5 * i))
            store.since(run_id, {})

    threads = [threading.Thread(target=work, args=(run_id,)) for run_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(store.measured(run_id)) for run_id in ids] == [100] * 4


def test_the_default_store_is_in_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "new" / "data"))
    with Store() as store:
        assert store.path == default_path() and store.path.exists()


def test_a_closed_store_says_so(store):
    store.close()
    for ask in (store.runs, lambda: new_run(store)):
        with pytest.raises(StoreError, match="closed"):
            ask()
