"""How fast a run goes and how long it still takes, from the progress it reported."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from explorer.records import Progress

_WINDOW = 40


class Pace:
    """Speed over the last reports, so that a slow start is soon forgotten."""

    def __init__(self) -> None:
        self._reports: deque[tuple[float, Progress]] = deque(maxlen=_WINDOW)

    def report(self, at: float, progress: Progress) -> None:
        """Note a progress.

        Args:
            at: when it came, in seconds of any clock that only goes forward.
        """
        self._reports.append((at, progress))

    @property
    def tokens_per_second(self) -> float | None:
        """None until two reports differ in tokens."""
        return self._rate(lambda progress: progress.tokens)

    def seconds_left(self, now: float) -> float | None:
        """Seconds from `now` to the end at the recent speed; None until that is known."""
        rate = self._rate(lambda progress: progress.done)
        if rate is None:
            return None
        at, last = self._reports[-1]
        return max(0.0, (1 - last.done) / rate - (now - at))

    def _rate(self, quantity: Callable[[Progress], float]) -> float | None:
        if len(self._reports) < 2:
            return None
        (began, first), (ended, last) = self._reports[0], self._reports[-1]
        gained = quantity(last) - quantity(first)
        return gained / (ended - began) if gained > 0 and ended > began else None
