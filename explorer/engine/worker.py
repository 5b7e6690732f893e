"""The process that trains: it takes one piece of work, reports while it lasts, and ends."""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import os
import platform
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from multiprocessing import connection, parent_process
from typing import Any

from explorer.engine import device as devices
from explorer.engine import endings
from explorer.engine.messages import (
    AskDevices,
    Devices,
    Ended,
    FromWorker,
    Seal,
    Started,
    Stop,
    Work,
    encode,
    for_worker,
    plain,
    unfit,
)
from explorer.engine.outbox import FLUSH_SECONDS, Outbox
from explorer.errors import BadInput, Diverged
from explorer.records import Point, Prediction, Progress, Series

# What a trial is likely to need, loaded before it comes: the first optimiser of a process imports
# torch._dynamo, which takes longer than many a trial. Workers are forked after it: no threads, no GPU here.
PRELOADED = ("torch", "torch.optim", "torch._dynamo")

_THREADS = 1
_POLITENESS = 10


def main(wire: connection.Connection, preload: tuple[str, ...] = ()) -> None:
    """Entry of the worker process.

    Args:
        wire: both ways to the app: first comes Work or AskDevices.
        preload: modules that trials are likely to need; loaded already where workers are forked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app, which then ends its workers
    line = Line(wire)
    for module in (*PRELOADED, *preload):
        importlib.import_module(module)
    importlib.import_module("torch").set_num_threads(_THREADS)
    task = line.receive()
    if isinstance(task, AskDevices):
        line.send(Devices(devices.available()))
    elif isinstance(task, Work):
        if hasattr(os, "nice"):
            os.nice(_POLITENESS)  # the page stays quick while a model trains
        line.send(perform(task, line))
    wire.close()
    # Libraries may have left threads that would keep a finished process alive.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


class Line:
    """The worker's end of the wire. A thread of its own listens, so Stop and the app's death are heard."""

    def __init__(self, wire: connection.Connection) -> None:
        self._wire = wire
        self._sending = threading.Lock()
        self._heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stopped = threading.Event()
        self.outbox = Outbox(self.send)
        threading.Thread(target=self._listen, name="line to the app", daemon=True).start()

    def send(self, message: FromWorker) -> None:
        data = encode(message)
        with self._sending:
            try:
                self._wire.send_bytes(data)
            except OSError:
                os._exit(1)  # the app is gone: nobody wants the rest

    def receive(self) -> Any:
        """The next message, be it Stop; waits for it."""
        return self._heard.get()

    def wait_until_sealed(self) -> None:
        """Returns once the app has stored the prediction, or has asked to stop."""
        self._heard.get()

    def _listen(self) -> None:
        parent = parent_process()
        ends: list[Any] = [self._wire] if parent is None else [self._wire, parent.sentinel]
        while True:
            ready = connection.wait(ends, FLUSH_SECONDS)
            if self._wire in ready:
                try:
                    message = for_worker(self._wire.recv_bytes())
                except (EOFError, OSError):
                    os._exit(1)
                if isinstance(message, Stop):
                    self.stopped.set()
                self._heard.put(message)
            elif ready:
                os._exit(1)  # only the app's own sentinel is left: it died
            self.outbox.flush_if_due()


def perform(work: Work, line: Line) -> Ended:
    """Run the trial to its end and say how it ended; all it yielded is sent before."""
    module_file = None
    try:
        device = devices.resolve(work.device)
        function = find(work.target)
        module_file = function.__code__.co_filename if hasattr(function, "__code__") else None
        line.send(Started(facts(device)))
        ended = follow(function(**work.arguments, device=device), line)
    except BaseException as error:  # SystemExit too: whatever a trial does, its run gets an end
        ended = endings.of_exception(error, module_file)
    line.outbox.flush()
    return ended


def find(target: str) -> Callable[..., Iterable[Any]]:
    """The function called "package.module:function"."""
    module_name, _, name = target.partition(":")
    function = getattr(importlib.import_module(module_name), name, None)
    if not callable(function):
        raise BadInput(f"The module {module_name} has no function {name!r}; check the trial's target.")
    return function


def follow(records: Iterable[Any], line: Line) -> Ended:
    """Carry the records to the app as they come, until they end or the app says stop."""
    declared: set[str] = set()
    for record in records:
        if line.stopped.is_set():
            return Ended("stopped", "Stopped; the points so far are kept.")
        if isinstance(record, Point):
            line.outbox.add(checked(record, declared))
        elif isinstance(record, Series):
            series = plain(record, Series)
            declared.add(series.key)
            line.outbox.add(series)
        elif isinstance(record, Progress):
            line.outbox.add(plain_progress(record))
        elif isinstance(record, Prediction):
            line.outbox.flush()
            line.send(Seal(plain(record, Prediction)))
            line.wait_until_sealed()
            if line.stopped.is_set():
                return Ended("stopped", "Stopped; the points so far are kept.")
        else:
            raise BadInput(
                f"The trial yielded {record!r:.80} of type {type(record).__name__}; "
                "expected a Series, Point, Progress or Prediction of explorer.records."
            )
    return Ended("finished", "")


def checked(point: Point, declared: set[str]) -> Point:
    """The point in plain numbers.

    Raises:
        Diverged: y is not finite.
        BadInput: x is not finite, x or y is no number, or the series was not declared.
    """
    try:
        x, y = float(point.x), float(point.y)
    except (TypeError, ValueError, OverflowError):
        number(Point, "x", point.x)
        raise unfit(Point, "y", point.y, "expected a number") from None
    if not isinstance(point.series, str):
        raise unfit(Point, "series", point.series, "expected the key of a Series")
    if point.series not in declared:
        raise BadInput(
            f"The trial yielded a point of {point.series!r} before its Series record; declare it first."
        )
    if not math.isfinite(y):
        raise Diverged(
            f"Training diverged: {point.series} became {y:g} at x = {x:g}. Try a lower learning rate."
        )
    if not math.isfinite(x):
        raise BadInput(f"The trial yielded a point of {point.series!r} at x = {x:g}; x must be finite.")
    return Point(point.series, x, y)


def plain_progress(progress: Progress) -> Progress:
    """The progress in Python's own types; BadInput, naming the field, if it cannot be one."""
    done = number(Progress, "done", progress.done)
    if not math.isfinite(done):
        raise unfit(Progress, "done", done, "expected a finite number")
    tokens = int(number(Progress, "tokens", progress.tokens, int))
    return plain(Progress(done, tokens, progress.note), Progress)


def number(
    kind: type[Point | Progress], field: str, value: Any, convert: Callable[[Any], float] = float
) -> float:
    """The value of a field as a number; BadInput, naming the field, if it is none."""
    try:
        return convert(value)
    except (TypeError, ValueError, OverflowError):
        raise unfit(kind, field, value, "expected a number") from None


def facts(device: str) -> dict[str, Any]:
    """What a measurement must tell of its origin."""
    torch = importlib.import_module("torch")
    versions = {"python": platform.python_version(), "torch": str(torch.__version__)}
    for package in ("numpy", "scaling-explorer"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue  # run from a checkout without being installed
    return {
        "device": device,
        "device name": torch.cuda.get_device_name(device)
        if device.startswith("cuda")
        else platform.machine(),
        "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "versions": versions,
        "platform": platform.platform(),
        "pid": os.getpid(),
        "threads": torch.get_num_threads(),
    }
