"""Training goes on only once the prediction is stored."""

import threading
import time

from engine_recorder import Recorder, gone


class Slow(Recorder):
    """Holds the seal until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let_go = threading.Event(), threading.Event()

    def sealed(self, prediction):
        super().sealed(prediction)
        self.asked.set()
        self.let_go.wait(30)


def test_training_waits_for_the_seal(engine, tmp_path):
    sink, trained_on = Slow(), tmp_path / "trained on"
    job = engine.submit("engine_trials:seals", {"path": str(trained_on)}, sink)
    assert sink.asked.wait(30)
    time.sleep(0.3)  # time enough for a worker that would not wait
    assert not trained_on.exists() and sink.xs == [0]
    sink.let_go.set()
    assert job.wait(30) == "finished" and trained_on.exists() and sink.xs == [0, 1]
    names = sink.names
    assert names.index("sealed") > names.index("received")
    prediction = next(what[1] for what in sink.told if what[0] == "sealed")
    assert prediction.curve("loss").y == [2.0]


def test_stop_while_the_seal_is_held(engine, tmp_path):
    sink = Slow()
    job = engine.submit("engine_trials:seals", {"path": str(tmp_path / "on")}, sink)
    assert sink.asked.wait(30)
    job.stop()
    assert gone(sink.pid, 10)
    sink.let_go.set()
    assert job.wait(30) == "stopped" and not (tmp_path / "on").exists()
