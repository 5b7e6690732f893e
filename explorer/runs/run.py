"""What the store tells about one run."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from explorer.records import Prediction, Progress

State = Literal[
    "queued",
    "running",
    "finished",
    "stopped",
    "failed",
    "diverged",
    "out of memory",
    "lost",
    "interrupted",
]

OPEN: tuple[State, ...] = ("queued", "running")


class Run(msgspec.Struct, frozen=True):
    """One run, without its points. Times are seconds since 1970, None where not yet known.

    Args:
        id: short text that sorts by time of creation.
        exhibit, trial, size: what was run.
        session: who asked for it.
        state: queued and running are open; all others are final.
        sentence: what a person should know about how it ended.
        sliders: the settings that the prediction was drawn with.
        arguments: what the experiment was called with.
        seeds: number of independent repetitions.
        facts: all the worker said of itself; device, dtype and versions are taken from there.
        points: how many are stored.
        series: how many are declared.
        progress: the last that was told.
    """

    id: str
    exhibit: str
    trial: str
    size: str
    session: str
    state: State
    sentence: str
    sliders: dict[str, Any]
    arguments: dict[str, Any]
    seeds: int
    facts: dict[str, Any]
    created: float
    started: float | None
    finished: float | None
    points: int
    series: int
    progress: Progress

    @property
    def device(self) -> str:
        """Where it trained, e.g. "cpu"; "" before it began."""
        return self.facts.get("device", "")

    @property
    def dtype(self) -> str:
        """Number format of the training, e.g. "float32"; "" before it began."""
        return self.facts.get("dtype", "")

    @property
    def versions(self) -> dict[str, str]:
        """Package versions of the worker by name."""
        return self.facts.get("versions", {})

    @property
    def open(self) -> bool:
        """Whether points may still come."""
        return self.state in OPEN


class Sealed(msgspec.Struct, frozen=True):
    """A prediction that can no longer be changed.

    Args:
        prediction: as stored.
        sealed_at: seconds since 1970.
        digest: SHA-256 of its canonical JSON, in hexadecimal.
    """

    prediction: Prediction
    sealed_at: float
    digest: str
