"""A writer that is killed loses nothing that was acknowledged, and its run says what happened."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from sample_run import new_run

from explorer.errors import BadInput
from explorer.runs import Store, owner

WRITER = """
import sys
from explorer.records import Point, Series
from explorer.runs import Store

store = Store(sys.argv[1])
run_id = store.create(exhibit="ladder", trial="widths", size="small", sliders={}, arguments={}, seeds=1)
store.begin(run_id, {"device": "cpu"})
store.append(run_id, [Series("loss", "curve", "loss")])
print(run_id, flush=True)
n = 0
while True:
    store.append(run_id, [Point("loss", n + i, 1.0) for i in range(50)])
    n += 50
    print(n, flush=True)
"""


@pytest.fixture
def writer(tmp_path):
    script = tmp_path / "writer.py"
    script.write_text(WRITER)
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "runs.sqlite")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_killed_in_the_middle_of_writing(tmp_path, writer):
    run_id = writer.stdout.readline().strip()
    for _ in range(100):
        acknowledged = int(writer.stdout.readline())
    # Another process's run that still trains is left alone.
    with Store(tmp_path / "runs.sqlite") as store:
        assert store.run(run_id).state == "running"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    for line in writer.stdout:
        if line.endswith("\n"):
            acknowledged = int(line)
    with Store(tmp_path / "runs.sqlite", readonly=True) as store:
        assert store.run(run_id).state == "running"  # a reader marks nothing
    with Store(tmp_path / "runs.sqlite") as store:
        run = store.run(run_id)
        assert run.state == "interrupted" and "points so far are kept" in run.sentence
        _, x, _ = store.measured(run_id)["loss"]
        assert len(x) >= acknowledged and x.tolist() == list(range(len(x))) and run.points == len(x)
        assert store.health()["integrity"] == "ok"


def test_own_runs_are_left_alone(tmp_path):
    with Store(tmp_path / "runs.sqlite") as first:
        run_id = new_run(first)
        with Store(tmp_path / "runs.sqlite") as second:
            assert second.run(run_id).state == "queued"


def test_a_process_id_that_was_given_again_is_not_the_owner(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        run_id = new_run(store)
        with store._connections.writing() as connection:
            connection.execute("UPDATE run SET owner_started = owner_started - 1000")
    with Store(tmp_path / "runs.sqlite") as store:
        assert store.run(run_id).state == "interrupted"


def test_the_death_of_the_owner_is_noticed_by_a_store_that_is_open(tmp_path, writer, monkeypatch):
    monkeypatch.setattr(owner, "_LOOK_SECONDS", 0)
    run_id = writer.stdout.readline().strip()
    writer.stdout.readline()
    with Store(tmp_path / "runs.sqlite") as store:
        assert store.owner_lives(run_id)
        with pytest.raises(BadInput, match=f"still running, in process {writer.pid}"):
            store.delete(run_id)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert not store.owner_lives(run_id) and store.run(run_id).state == "running"
        store.refresh_interrupted()
        assert store.run(run_id).state == "interrupted"
        with pytest.raises(BadInput, match="nearest id"):
            store.owner_lives(run_id[:-1] + "x")


def test_a_run_whose_owner_is_gone_can_be_deleted(tmp_path, writer):
    run_id = writer.stdout.readline().strip()
    with Store(tmp_path / "runs.sqlite") as store:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        store.delete(run_id)
        assert store.count() == 0


def test_a_process_is_looked_at_once_a_second_and_the_own_never(store, monkeypatch):
    looks = []

    def look(pid):
        looks.append(pid)
        raise psutil.NoSuchProcess(pid)

    own, other = new_run(store), new_run(store)
    with store._connections.writing() as connection:
        connection.execute("UPDATE run SET owner_pid = 4, owner_started = 0 WHERE id = ?", (other,))
    now = [1000.0]
    monkeypatch.setattr(owner.psutil, "Process", look)
    monkeypatch.setattr(owner.time, "monotonic", lambda: now[0])
    assert [store.owner_lives(own) for _ in range(3)] == [True] * 3 and looks == []
    assert [store.owner_lives(other) for _ in range(3)] == [False] * 3 and looks == [4]
    now[0] += 1
    assert not store.owner_lives(other) and looks == [4, 4]
