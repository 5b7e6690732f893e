"""Runs trials in background processes, fairly between those who ask."""

from __future__ import annotations

import atexit
import logging
import os
import re
import secrets
import threading
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import msgspec

from explorer.engine import device as devices
from explorer.engine.fair_queue import FairQueue
from explorer.engine.job import Job
from explorer.engine.messages import AskDevices, Devices, Work, from_worker
from explorer.engine.processes import Starter
from explorer.engine.sink import Sink
from explorer.errors import BadInput, ExplorerError

_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_DEVICES_SECONDS = 60.0
_CLOSE_SECONDS = 10.0
_NOT_STARTED = "The worker could not be started: {}. Close other programs, then train again."

_log = logging.getLogger(__name__)
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


class Engine:
    """Takes trials, runs at most `workers` of them at once, each in a process of its own.

    Args:
        workers: trials at once; None leaves one core to the app.
        device: "auto", "cpu", "cuda", ...: where they train; looked up in the worker.
        start_method: "forkserver" or "spawn"; None takes the quicker one that the system has.
        preload: modules that workers load before work comes, besides torch.
    """

    def __init__(
        self,
        workers: int | None = None,
        device: str = "auto",
        start_method: str | None = None,
        preload: Sequence[str] = (),
    ) -> None:
        if workers is None:
            workers = max(1, _cores() - 1)
        if workers < 1:
            raise BadInput(f"The engine was given {workers} workers; it needs at least 1.")
        self.workers = workers
        self.device = device
        self._starter = Starter(start_method, preload)
        self._lock = threading.Lock()
        self._waiting: FairQueue[Job] = FairQueue()
        self._running: dict[Job, threading.Thread] = {}
        self._devices: list[str] | None = None
        self._asking = threading.Lock()
        self._closed = False
        _engines.add(self)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Load torch ahead of the first trial, in the background; returns at once."""
        threading.Thread(target=self._warm, name="engine warm-up", daemon=True).start()

    def submit(
        self, target: str, arguments: dict[str, Any], sink: Sink, owner: str = "", job_id: str | None = None
    ) -> Job:
        """Run `function(**arguments, device=...)` of `target` as soon as it is the owner's turn.

        Args:
            target: "package.module:function", a generator of records; it is imported in the worker only.
            arguments: whatever JSON can say.
            sink: is told all that happens.
            owner: jobs of different owners take turns.
            job_id: the run's id; made up if None.

        Raises:
            BadInput: the target or the arguments cannot be understood, or the engine is closed.
        """
        if not _TARGET.fullmatch(target):
            raise BadInput(f"The target {target!r} names no function; expected 'package.module:function'.")
        work = Work(target, _plain(arguments), self.device)
        job = Job(job_id or secrets.token_hex(4), owner, work, sink)
        job.queued_in(self._leave_queue)
        with self._lock:
            if self._closed:
                raise BadInput("The engine is closed and takes no more trials; make a new Engine.")
            self._waiting.push(owner, job)
        self._fill()
        return job

    def jobs(self) -> list[Job]:
        """The jobs that have a worker, in order of their start."""
        with self._lock:
            return list(self._running)

    @property
    def waiting(self) -> int:
        """How many jobs wait for a worker."""
        with self._lock:
            return len(self._waiting)

    def devices(self) -> list[str]:
        """Where trials can train, the preferred first, e.g. ["cuda", "cpu"]. The first call asks a worker."""
        with self._asking:
            if self._devices is None:
                self._devices = self._ask_devices()
            return list(self._devices)

    def check_device(self, name: str) -> None:
        """Raise BadInput unless `name` is "auto" or one of `devices()`."""
        devices.check(name, self.devices())

    def close(self) -> None:
        """Stop every job and wait until no process is left. More calls do no harm."""
        with self._lock:
            self._closed = True
            jobs = list(self._running)
            while len(self._waiting):
                jobs.append(self._waiting.pop())
            threads = list(self._running.values())
        for job in jobs:
            job.stop()
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(_CLOSE_SECONDS)
        self._starter.close()

    # -- running

    def _fill(self) -> None:
        """Give free places to waiting jobs."""
        threadless: list[tuple[Job, RuntimeError]] = []
        with self._lock:
            while not self._closed and len(self._waiting) and len(self._running) < self.workers:
                job = self._waiting.pop()
                thread = threading.Thread(target=self._run, args=(job,), name=f"run {job.id}", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    threadless.append((job, error))
                else:
                    self._running[job] = thread
        for job, reason in threadless:
            job.fail(_NOT_STARTED.format(reason))

    def _run(self, job: Job) -> None:
        try:
            try:
                worker = self._starter.start()
            except Exception as error:
                job.fail(_NOT_STARTED.format(error))
                return
            job.follow(worker)
        except BaseException as error:  # whatever went wrong, the job gets an end
            _log.exception("run %s could not be followed", job.id)
            job.fail(
                f"The run could not be followed: {type(error).__name__}: {error}. "
                "The points so far are kept; train again."
            )
        finally:
            with self._lock:
                self._running.pop(job, None)
            self._fill()
            if self._starter.method == "spawn":
                self._warm()

    def _warm(self) -> None:
        if not self._closed:
            self._starter.warm()

    def _leave_queue(self, job: Job) -> None:
        with self._lock:
            self._waiting.remove(job.owner, job)

    def _ask_devices(self) -> list[str]:
        worker = self._starter.start()
        try:
            worker.send(AskDevices())
            if worker.wire.poll(_DEVICES_SECONDS):
                answer = from_worker(worker.wire.recv_bytes())
                if isinstance(answer, Devices):
                    return answer.names
        except (EOFError, OSError):
            pass  # told below, as for a worker that does not answer
        finally:
            worker.close()
        raise ExplorerError(
            "No worker could say which devices there are; check that torch can be imported here."
        )


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        plain = msgspec.json.decode(msgspec.json.encode(arguments), type=dict[str, Any])
        msgspec.msgpack.encode(plain)  # as they will travel: not every whole number can
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"The arguments of a trial must be what JSON can say (numbers, texts, lists, dicts): {error}."
        ) from error
    return plain


@atexit.register
def _close_all() -> None:
    for engine in list(_engines):
        engine.close()
