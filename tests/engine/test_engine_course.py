"""A trial that goes well: what its sink is told, and in what surroundings it runs."""

import time

import psutil
import pytest
from engine_recorder import Recorder

from explorer.engine import Engine
from explorer.errors import BadInput
from explorer.records import Point


def test_points_arrive_in_order(finish):
    job, sink = finish("steps", count=3000)
    assert (job.state, job.sentence, job.ended) == ("finished", "", True)
    assert sink.names[0] == "started" and sink.names[-1] == "ended" and sink.names.count("ended") == 1
    assert sink.xs == list(range(3000)) and job.points == 3000
    assert job.progress.done == 1 and job.progress.tokens == 300_000
    assert job.submitted <= job.started <= job.finished
    assert len(sink.threads) == 1


def test_batches_are_few_and_the_first_point_comes_at_once(finish):
    job, sink = finish("steps", count=50, pause=0.01)
    batches = [what[1] for what in sink.told if what[0] == "received"]
    first = next(batch for batch in batches if any(isinstance(record, Point) for record in batch))
    assert sum(isinstance(record, Point) for record in first) == 1
    # At most 20 batches a second, besides the first point's and the last.
    assert len(batches) <= 20 * (job.finished - job.submitted) + 3


def test_a_waiting_point_comes_while_the_trial_computes(run):
    job, sink = run("pauses_after_two_points")
    until = time.monotonic() + 30
    while len(sink.xs) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert sink.xs == [0, 1] and job.state == "running"
    job.stop()
    job.wait(5)


def test_facts_say_where_it_trained(finish):
    _, sink = finish("steps", count=1)
    facts = sink.told[0][1]
    assert facts["device"] == "cpu" or facts["device"] in ("cuda", "mps")
    assert facts["dtype"] == "float32" and facts["threads"] == 1 and facts["platform"]
    assert {"python", "torch", "numpy"} <= set(facts["versions"])


def test_a_real_training(finish):
    job, sink = finish("optimises")
    assert (job.state, sink.xs) == ("finished", [0, 1, 2])
    assert all(isinstance(record.y, float) for record in sink.records if isinstance(record, Point))


def test_the_worker_is_polite_and_no_child_of_the_app(finish):
    _, sink = finish("tells_origin")
    labels = sink.labels
    parent = psutil.Process(labels["parent"])
    assert parent.ppid() == psutil.Process().pid and "forkserver" in " ".join(parent.cmdline())
    assert labels["nice"] >= 10 and labels["threads"] == "1" and labels["malloc"] == str(1 << 32)
    assert labels["main"] == "None" and not labels["panel"]


def test_speed_and_time_left_are_estimated(run):
    job, sink = run("steps", count=1000, pause=0.01)
    until = time.monotonic() + 30
    while sink.names.count("progressed") < 5 and time.monotonic() < until:
        time.sleep(0.01)
    assert job.tokens_per_second > 0 and job.seconds_left > 0
    job.stop()
    assert job.wait(30) == "stopped" and job.seconds_left is None


def test_devices(engine):
    assert engine.devices()[-1] == "cpu"
    for name in ("auto", "cpu"):
        engine.check_device(name)
    with pytest.raises(BadInput, match=r"'tpu' is not available; this machine has .*cpu"):
        engine.check_device("tpu")


def test_a_device_that_is_not_there_fails_with_a_sentence():
    with Engine(workers=1, device="tpu") as engine:
        job = engine.submit("engine_trials:steps", {}, Recorder())
        assert job.wait(60) == "failed" and "'tpu' is not available" in job.sentence


def test_bad_submissions_are_refused_at_once(engine):
    with pytest.raises(BadInput, match="expected 'package"):
        engine.submit("not a target", {}, Recorder())
    with pytest.raises(BadInput, match="JSON"):
        engine.submit("engine_trials:steps", {"model": object()}, Recorder())
    with pytest.raises(BadInput, match="JSON"):
        engine.submit("engine_trials:steps", {"count": 2**70}, Recorder())
    with pytest.raises(BadInput, match="at least 1"):
        Engine(workers=0)


def test_spawn_does_the_same():
    with Engine(workers=1, start_method="spawn") as engine:
        engine.warm()
        sink = Recorder()
        job = engine.submit("engine_trials:steps", {"count": 3}, sink)
        assert job.wait(60) == "finished" and sink.xs == [0, 1, 2]
        until = time.monotonic() + 10
        while engine._starter._idle is None and time.monotonic() < until:
            time.sleep(0.01)
        assert engine._starter._idle.alive  # the next trial need not wait for torch
    assert not [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
