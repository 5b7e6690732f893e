"""Who waits, in what order, and how to leave the queue."""

import threading

import pytest
from engine_recorder import Recorder

from explorer.engine import Engine
from explorer.engine.fair_queue import FairQueue


def drain(queue):
    return [queue.pop() for _ in range(len(queue))]


def test_owners_take_turns_and_each_keeps_its_order():
    queue = FairQueue()
    for owner, item in [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")]:
        queue.push(owner, item)
    assert drain(queue) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    with pytest.raises(IndexError):
        queue.pop()


def test_the_owner_of_the_last_turn_comes_after_a_newcomer():
    queue = FairQueue()
    queue.push("a", "a1")
    assert queue.pop() == "a1"
    for owner, item in [("a", "a2"), ("b", "b1")]:
        queue.push(owner, item)
    assert drain(queue) == ["b1", "a2"]


def test_an_endless_stream_of_newcomers_starves_nobody():
    queue = FairQueue()
    queue.push("patient", "first")
    queue.push("patient", "second")
    queue.pop()
    for i in range(3000):
        queue.push(f"new {i}", i)
    served = drain(queue)
    assert served.index("second") < len(served) and len(queue._last_turn) <= 2001


def test_leaving_the_queue():
    queue = FairQueue()
    queue.push("a", "a1")
    assert queue.remove("a", "a1") and not queue.remove("a", "a1") and len(queue) == 0


def test_jobs_of_two_owners_take_turns(engine, run, tmp_path):
    gate = tmp_path / "gate"
    first, sink = run("waits_for", owner="a", path=str(gate))
    sink.has_point.wait(30)
    order = []
    jobs = []
    for owner in ["a", "a", "b", "b"]:
        sink = Recorder()
        sink.ended = lambda state, sentence, owner=owner: order.append(owner)
        jobs.append(engine.submit("engine_trials:steps", {}, sink, owner=owner))
    assert engine.waiting == 4 and engine.jobs() == [first]
    gate.touch()
    assert [job.wait(30) for job in jobs] == ["finished"] * 4
    assert order == ["b", "a", "b", "a"]


def test_stop_while_queued(engine, run, tmp_path):
    running, sink = run("waits_for", path=str(tmp_path / "gate"))
    sink.has_point.wait(30)
    queued, told = run("steps")
    queued.stop()
    assert queued.ended and queued.state == "stopped" and engine.waiting == 0
    assert told.told == [("ended", "stopped", "Stopped before it began.")]
    assert running.state == "running"
    running.stop()
    running.wait(5)


def test_no_more_than_the_given_workers_run_at_once(tmp_path):
    with Engine(workers=2) as engine:
        sinks = [Recorder() for _ in range(3)]
        jobs = [engine.submit("engine_trials:waits_for", {"path": str(tmp_path / "gate")}, s) for s in sinks]
        assert all(sink.has_point.wait(30) for sink in sinks[:2])
        assert len(engine.jobs()) == 2 and engine.waiting == 1 and sinks[2].told == []
        (tmp_path / "gate").touch()
        assert [job.wait(30) for job in jobs] == ["finished"] * 3


def test_submit_from_many_threads(engine):
    jobs = []

    def submit():
        jobs.append(
            engine.submit("engine_trials:steps", {}, Recorder(), owner=threading.current_thread().name)
        )

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [job.wait(30) for job in jobs] == ["finished"] * 8
