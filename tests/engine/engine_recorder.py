"""A sink that remembers, and a look at whether a process is gone."""

import threading
import time

import psutil

from explorer.records import Point, Series


class Recorder:
    """A sink that remembers what it was told, in order, and on which thread."""

    def __init__(self) -> None:
        self.told: list[tuple] = []
        self.threads: set[str] = set()
        self.has_point = threading.Event()

    def started(self, facts):
        self._note("started", facts)

    def received(self, records):
        self._note("received", records)
        if any(isinstance(record, Point) for record in records):
            self.has_point.set()

    def progressed(self, progress):
        self._note("progressed", progress)

    def sealed(self, prediction):
        self._note("sealed", prediction)

    def ended(self, state, sentence):
        self._note("ended", state, sentence)

    def _note(self, *what):
        self.told.append(what)
        self.threads.add(threading.current_thread().name)

    @property
    def names(self) -> list[str]:
        return [what[0] for what in self.told]

    @property
    def records(self) -> list:
        return [record for what in self.told if what[0] == "received" for record in what[1]]

    @property
    def xs(self) -> list[float]:
        return [record.x for record in self.records if isinstance(record, Point)]

    @property
    def labels(self) -> dict:
        return next(record for record in self.records if isinstance(record, Series)).labels

    @property
    def pid(self) -> int:
        return next(what[1]["pid"] for what in self.told if what[0] == "started")


def gone(pid: int, within: float) -> bool:
    """Whether the process ends within so many seconds."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False
