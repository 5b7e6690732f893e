"""Which process a run belongs to, and whether that process still lives."""

from __future__ import annotations

import functools
import math
import os
import time

import psutil

# The same process may report slightly different start times after the clock was set.
_TOLERANCE_SECONDS = 5.0
_LOOK_SECONDS = 1.0


@functools.lru_cache(maxsize=1)
def _started(pid: int) -> float:
    return psutil.Process(pid).create_time()


def this_process() -> tuple[int, float]:
    """Process id and start time (seconds since 1970): together they never name two processes."""
    return os.getpid(), _started(os.getpid())


def lives(pid: int, started: float) -> bool:
    """Whether the process with this id and start time still runs."""
    if (pid, started) == this_process():
        return True
    try:
        process = psutil.Process(pid)
        return (
            abs(process.create_time() - started) < _TOLERANCE_SECONDS
            and process.status() != psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # it exists; better to wait for it than to end its runs


class Watch:
    """Looks at each process at most once in a while, for those who ask many times a second."""

    def __init__(self) -> None:
        self._looked: dict[tuple[int, float], tuple[float, bool]] = {}

    def lives(self, pid: int, started: float) -> bool:
        """What `lives` says, at most a second old."""
        now = time.monotonic()
        looked, alive = self._looked.get((pid, started), (-math.inf, False))
        if now - looked >= _LOOK_SECONDS:
            alive = lives(pid, started)
            self._looked[pid, started] = now, alive
        return alive
