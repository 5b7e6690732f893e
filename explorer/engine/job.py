"""One trial on its way: waiting, training, ended."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Literal

from explorer.engine import endings
from explorer.engine.messages import Batch, Ended, Seal, SealedNow, Started, Stop, Work, from_worker
from explorer.engine.pace import Pace
from explorer.engine.processes import Worker
from explorer.engine.sink import Sink
from explorer.errors import ExplorerError
from explorer.records import Point, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

State = Literal["queued", "running", "finished", "stopped", "failed", "diverged", "out of memory", "lost"]

_STOPPED_BEFORE = "Stopped before it began."
_STOPPED = "Stopped; the points so far are kept."
# A trial that does not yield for so long after Stop is killed.
_GRACE_SECONDS = 0.7
_EXIT_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Job:
    """Handle of a submitted trial. Its attributes may be read from any thread.

    Attributes:
        id: the run's id.
        owner: who asked for it.
        state: queued, running, or how it ended; "running" once its worker has reported.
        sentence: why it ended.
        progress: the last that was reported.
        points: how many came.
        submitted, started, finished: seconds since 1970; None if not yet.
    """

    def __init__(self, job_id: str, owner: str, work: Work, sink: Sink) -> None:
        self.id = job_id
        self.owner = owner
        self.state: State = "queued"
        self.sentence = ""
        self.progress = Progress(0.0)
        self.points = 0
        self.submitted = time.time()
        self.started: float | None = None
        self.finished: float | None = None
        self._pace = Pace()
        self._work = work
        self._sink: Sink | None = sink
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._stop_asked = False
        self._end_taken = False
        self._done = threading.Event()
        self._leave_queue: Callable[[Job], None] | None = None

    @property
    def ended(self) -> bool:
        """Whether it is over and its sink knows."""
        return self._done.is_set()

    @property
    def tokens_per_second(self) -> float | None:
        """Training tokens a second over the last reports; None while unknown."""
        return self._pace.tokens_per_second

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end; None while unknown or when over."""
        return None if self.ended else self._pace.seconds_left(time.monotonic())

    def wait(self, timeout: float | None = None) -> State:
        """Wait at most `timeout` seconds for the end (for ever if None), and return the state then."""
        self._done.wait(timeout)
        return self.state

    def stop(self) -> None:
        """Ask for the end; returns at once. A trial that does not yield is killed after 0.7 seconds."""
        with self._lock:
            if self._stop_asked or self._end_taken:
                return
            self._stop_asked = True
            worker = self._worker
        if worker is None:
            # In the queue, or its process is still coming up and will find the job over.
            if self._leave_queue is not None:
                self._leave_queue(self)
            self._end("stopped", _STOPPED_BEFORE)
            return
        # Before the message, which waits its turn behind one that the worker may be too busy to take.
        timer = threading.Timer(_GRACE_SECONDS, worker.kill)
        timer.daemon = True
        timer.start()
        worker.send(Stop())

    # -- for the engine

    def queued_in(self, leave: Callable[[Job], None]) -> None:
        """Set how the job takes itself out of the queue."""
        self._leave_queue = leave

    def follow(self, worker: Worker) -> None:
        """Give the worker its work and pass on what it says, until it is gone."""
        try:
            with self._lock:
                if self._end_taken or self._stop_asked:
                    return
                self._worker = worker
            worker.send(self._work)
            state, sentence = self._listen(worker)
            self._end(state, sentence)
        finally:
            worker.close()
            self._worker = None

    def fail(self, sentence: str) -> None:
        """End the job, if it has not ended, because it could not be started or followed."""
        self._end("failed", sentence)

    def _listen(self, worker: Worker) -> tuple[State, str]:
        while True:
            try:
                data = worker.wire.recv_bytes()
            except (EOFError, OSError):
                return self._after_silence(worker)
            try:
                message = from_worker(data)
            except Exception as error:
                worker.kill()
                _log.exception("run %s: a message of its worker cannot be read", self.id)
                return "failed", (
                    f"The worker sent what is no message of a trial ({error}). "
                    "The points so far are kept; train again."
                )
            if isinstance(message, Ended):
                if message.trace:
                    _log.error("run %s ended as %s\n%s", self.id, message.state, message.trace)
                return message.state, message.sentence
            try:
                self._pass_on(message, worker)
            except Exception as error:
                worker.kill()
                _log.exception("run %s could not be recorded", self.id)
                if isinstance(error, ExplorerError):
                    return "failed", str(error)
                return "failed", f"The run could not be recorded: {type(error).__name__}: {error}."

    def _pass_on(self, message: Any, worker: Worker) -> None:
        sink = self._sink
        assert sink is not None
        if isinstance(message, Started):
            self.started = time.time()
            self.state = "running"
            sink.started(message.facts)
        elif isinstance(message, Batch):
            if message.records:
                sink.received(message.records)
                self.points += sum(isinstance(record, Point) for record in message.records)
            if message.progress is not None:
                self.progress = message.progress
                self._pace.report(time.monotonic(), message.progress)
                sink.progressed(message.progress)
        elif isinstance(message, Seal):
            sink.sealed(message.prediction)
            worker.send(SealedNow())

    def _after_silence(self, worker: Worker) -> tuple[State, str]:
        if self._stop_asked:
            return "stopped", _STOPPED
        code = worker.exit_code(_EXIT_SECONDS)
        if self._stop_asked:
            return "stopped", _STOPPED
        return "lost", endings.of_death(code)

    def _end(self, state: State, sentence: str) -> None:
        with self._lock:
            if self._end_taken:
                return
            self._end_taken = True
        sink, self._sink = self._sink, None  # a finished job holds on to nothing
        assert sink is not None
        try:
            sink.ended(state, sentence)
        except Exception:
            _log.exception("the end of run %s could not be recorded", self.id)
        finally:
            self.sentence = sentence
            self.finished = time.time()
            self.state = state
            self._done.set()
