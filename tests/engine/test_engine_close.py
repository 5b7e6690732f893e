"""Closing leaves nothing behind."""

import threading
import time
from contextlib import suppress

import psutil
import pytest
from engine_recorder import Recorder, gone

from explorer.engine import Engine
from explorer.errors import BadInput


def children() -> set[int]:
    """Process ids below this one, but for multiprocessing's own watcher, which ends with this process."""
    found = set()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it may end while it is looked at
            if "resource_tracker" not in " ".join(child.cmdline()):
                found.add(child.pid)
    return found


def test_close_leaves_no_process_and_no_thread(finish):
    finish("steps")  # the forkserver that all engines of this process share is up
    before, threads = children(), threading.active_count()
    engine = Engine(workers=2)
    sinks = [Recorder() for _ in range(3)]
    jobs = [engine.submit("engine_trials:hangs", {}, sink) for sink in sinks]
    for sink in sinks[:2]:
        assert sink.has_point.wait(30)
    engine.close()
    engine.close()
    assert [job.state for job in jobs] == ["stopped"] * 3
    assert [sink.names[-1] for sink in sinks] == ["ended"] * 3
    assert all(gone(pid, 30) for pid in children() - before)
    assert threading.active_count() <= threads + 2  # two killers that come too late end by themselves
    with pytest.raises(BadInput, match="closed"):
        engine.submit("engine_trials:steps", {}, Recorder())


def test_close_while_the_first_worker_is_coming_up():
    engine = Engine(workers=1, start_method="spawn")  # slow to come up
    sink = Recorder()
    job = engine.submit("engine_trials:hangs", {}, sink)
    job.stop()
    assert job.state == "stopped" and job.ended  # without waiting for the worker
    engine.close()
    assert sink.names == ["ended"] and engine.jobs() == []


def test_an_ended_job_holds_on_to_nothing(engine, finish):
    job, _ = finish("steps")
    until = time.monotonic() + 5
    while engine.jobs() and time.monotonic() < until:
        time.sleep(0.01)
    assert engine.jobs() == []
    assert job._sink is None and job._worker is None


def test_a_new_engine_works_after_another_was_closed():
    for _ in range(2):
        with Engine(workers=1) as engine:
            engine.warm()
            assert engine.submit("engine_trials:steps", {}, Recorder()).wait(60) == "finished"
