"""Where the reports of a job go."""

from __future__ import annotations

from typing import Any, Protocol

from explorer.records import Point, Prediction, Progress, Series


class Sink(Protocol):
    """Told in order, on one thread of the job's own. A method that raises ends the job as failed.

    `ended` is always the last and is called once; for a job stopped before its worker was up it is called on
    the thread that stops it.
    """

    def started(self, facts: dict[str, Any]) -> None:
        """The worker is up: device, dtype, versions, pid, threads."""

    def received(self, records: list[Series | Point]) -> None:
        """What the trial yielded, in order."""

    def progressed(self, progress: Progress) -> None:
        """The last word on how far it is."""

    def sealed(self, prediction: Prediction) -> None:
        """Store the prediction: the trial goes on when this has returned."""

    def ended(self, state: str, sentence: str) -> None:
        """finished, stopped, failed, diverged, out of memory or lost, and why."""
