"""Every way a trial ends has a state and a sentence; after each the next trial runs."""

import os
import signal
import threading
import time

import pytest
from engine_recorder import Recorder, gone

from explorer.engine import Engine, Job
from explorer.errors import StoreError


@pytest.fixture(autouse=True)
def the_next_trial_runs(finish):
    yield
    assert finish("steps")[0].state == "finished"


@pytest.mark.parametrize(
    ("name", "arguments", "state", "words"),
    [
        (
            "raises",
            {},
            "failed",
            "The trial raised ValueError: heads must divide width in engine_trials.py line",
        ),
        ("refuses", {}, "failed", "width is 3, expected a multiple of 4."),
        ("diverges", {}, "diverged", "loss became nan at x = 7"),
        ("says_diverged", {}, "diverged", "beyond 1e6 at step 3"),
        ("kills_itself", {}, "lost", "killed by signal 9 (SIGKILL). Usually the machine ran out of memory"),
        ("leaves", {}, "lost", "exit code 3"),
        ("needs_memory", {"how": "torch"}, "out of memory", "Choose a smaller size"),
        ("needs_memory", {"how": "python"}, "out of memory", "Choose a smaller size"),
        ("says_nonsense", {}, "failed", "yielded 'nonsense' of type str; expected a Series"),
        ("does_not_declare", {}, "failed", "before its Series record"),
        ("no_such_trial", {}, "failed", "has no function 'no_such_trial'"),
        ("steps", {"wrong": 1}, "failed", "unexpected keyword argument 'wrong'"),
        ("exits", {}, "failed", "SystemExit"),
    ],
)
def test_sentence(finish, name, arguments, state, words):
    job, sink = finish(name, **arguments)
    assert job.state == state and words in job.sentence and "\n" not in job.sentence
    assert sink.told[-1] == ("ended", state, job.sentence) and sink.names.count("ended") == 1


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("note", "a Progress whose note is None: Expected `str`, got `None`"),
        ("done", "a Progress whose done is 'half': expected a number"),
        ("done nan", "a Progress whose done is nan: expected a finite number"),
        ("tokens", "a Progress whose tokens is None: expected a number"),
        ("huge tokens", "a Progress whose tokens is 1180591620717411303424: "),
        ("key", "a Series whose key is ['loss']: Expected `str`, got `array`"),
        ("label", "a Series whose label is None: Expected `str`, got `None`"),
        ("not text", r"a Series whose label is '\ud800': "),
        ("labels", "a Series whose labels is {'seed': <object object"),
        ("x", "a Point whose x is None: expected a number"),
        ("y", "a Point whose y is 'high': expected a number"),
        ("series", "a Point whose series is ['loss']: expected the key"),
        ("coefficients", "a Prediction whose coefficients is {'a': 'steep'}: Expected `float`, got `str`"),
        ("curves", "a Prediction whose curves is [PredictedCurve("),
    ],
)
def test_a_record_with_a_wrong_field(finish, which, words):
    job, sink = finish("says_wrong", which=which)
    assert job.state == "failed" and f"The trial yielded {words}" in job.sentence
    assert "Correct this field" in job.sentence and "\n" not in job.sentence
    assert sink.told[-1] == ("ended", "failed", job.sentence) and sink.xs == [0]


@pytest.mark.parametrize("message", ["garbage", "", "\x00"])
def test_a_message_that_cannot_be_read(finish, message):
    job, sink = finish("sends_garbage", message=message)
    assert job.state == "failed" and "The worker sent what is no message of a trial" in job.sentence
    assert sink.told[-1] == ("ended", "failed", job.sentence) and sink.names.count("ended") == 1
    assert gone(sink.pid, 10)


def test_whatever_fails_in_following_ends_the_job(finish, monkeypatch):
    def broken(self, worker):
        raise KeyError("nobody thought of this")

    with monkeypatch.context() as patched:
        patched.setattr(Job, "_listen", broken)
        job, sink = finish("hangs")
    assert job.ended and job.state == "failed" and "KeyError: 'nobody thought of this'" in job.sentence
    assert sink.told == [("ended", "failed", job.sentence)]


def test_a_system_without_a_thread_left_ends_the_job(finish, monkeypatch):
    def none_left(self):
        raise RuntimeError("can't start new thread")

    with Engine(workers=1) as engine:
        sink = Recorder()
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", none_left)
            job = engine.submit("engine_trials:steps", {}, sink)
        assert job.ended and job.state == "failed" and "can't start new thread" in job.sentence
        assert sink.names == ["ended"] and engine.jobs() == []
        assert engine.submit("engine_trials:steps", {}, Recorder()).wait(60) == "finished"


@pytest.mark.parametrize("name", ["raises", "diverges", "kills_itself", "needs_memory"])
def test_points_so_far_are_kept(finish, name):
    job, sink = finish(name, **({"how": "python"} if name == "needs_memory" else {}))
    assert sink.xs == [0] and job.points == 1


def test_the_traceback_goes_to_the_log(finish, caplog):
    finish("raises")
    assert "Traceback" in caplog.text and 'raise ValueError("heads must divide width")' in caplog.text


def test_a_worker_killed_from_outside(run):
    job, sink = run("hangs")
    sink.has_point.wait(30)
    os.kill(sink.pid, signal.SIGKILL)
    assert job.wait(30) == "lost" and "SIGKILL" in job.sentence


def test_stop_between_yields(run, tmp_path):
    job, sink = run("waits_for", path=str(tmp_path / "never"))
    sink.has_point.wait(30)
    job.stop()
    assert job.wait(30) == "stopped"  # the trial itself would go on for ever
    assert job.points == len(sink.xs) >= 1 and "points so far are kept" in job.sentence


def test_stop_of_a_trial_that_hangs(run):
    job, sink = run("hangs")
    sink.has_point.wait(30)
    asked = time.monotonic()
    job.stop()
    job.stop()
    assert job.wait(30) == "stopped" and time.monotonic() - asked < 10  # the trial sleeps for an hour
    assert gone(sink.pid, 10) and sink.xs == [0]


@pytest.mark.parametrize("method", ["started", "received", "sealed"])
def test_a_sink_that_cannot_store_ends_the_job(engine, tmp_path, method):
    def full(*_):
        raise StoreError("Cannot write to the store: the disk is full.")

    sink = Recorder()
    setattr(sink, method, full)
    job = engine.submit("engine_trials:seals", {"path": str(tmp_path / "on")}, sink)
    assert job.wait(30) == "failed" and job.sentence == "Cannot write to the store: the disk is full."
    assert sink.told[-1][:2] == ("ended", "failed")
    assert not (tmp_path / "on").exists()


def test_a_sink_with_a_bug_ends_the_job(engine):
    sink = Recorder()
    sink.received = lambda records: 1 / 0
    job = engine.submit("engine_trials:steps", {}, sink)
    assert job.wait(30) == "failed" and "ZeroDivisionError" in job.sentence


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit])
def test_a_sink_that_cannot_note_the_end_leaves_an_ended_job(engine, error):
    def broken(state, sentence):
        raise error

    sink = Recorder()
    sink.ended = broken
    job = engine.submit("engine_trials:steps", {}, sink)
    assert job.wait(30) == "finished" and job.ended
