"""Which process a run belongs to, and whether that process still lives."""

from __future__ import annotations

import functools
import os

import psutil

# The same process may report slightly different start times after the clock was set.
_TOLERANCE_SECONDS = 5.0


@functools.lru_cache(maxsize=1)
def _started(pid: int) -> float:
    return psutil.Process(pid).create_time()


def this_process() -> tuple[int, float]:
    """Process id and start time (seconds since 1970): together they never name two processes."""
    return os.getpid(), _started(os.getpid())


def lives(pid: int, started: float) -> bool:
    """Whether the process with this id and start time still runs."""
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
