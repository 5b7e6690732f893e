"""Gathers what a trial yields into few messages: the first point at once, then a batch every 50 ms."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from explorer.engine.messages import Batch
from explorer.records import Point, Progress, Series

FLUSH_SECONDS = 0.05
_LARGEST_BATCH = 10_000


class Outbox:
    """Filled by the trial, emptied by whoever comes first: the next yield or the clock.

    Args:
        send: carries a batch away; it may block while the app is busy, and so slows the trial down.
    """

    def __init__(self, send: Callable[[Batch], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._records: list[Series | Point] = []
        self._progress: Progress | None = None
        self._flushed = 0.0
        self._first = True

    def add(self, record: Series | Point | Progress) -> None:
        with self._lock:
            if isinstance(record, Progress):
                self._progress = record
            else:
                self._records.append(record)
            first = self._first and isinstance(record, Point)
            if first or len(self._records) >= _LARGEST_BATCH or self._due():
                self._first = self._first and not first
                self._flush()

    def flush(self) -> None:
        """Send all that waits, now."""
        with self._lock:
            self._flush()

    def flush_if_due(self) -> None:
        """Send what has waited long enough; for the clock, while the trial computes without a yield."""
        # A trial that is just sending does it itself.
        if self._lock.acquire(blocking=False):
            try:
                if self._due():
                    self._flush()
            finally:
                self._lock.release()

    def _due(self) -> bool:
        return time.monotonic() - self._flushed >= FLUSH_SECONDS

    def _flush(self) -> None:
        if self._records or self._progress is not None:
            records, progress = self._records, self._progress
            self._records, self._progress = [], None
            self._send(Batch(records, progress))
            self._flushed = time.monotonic()
