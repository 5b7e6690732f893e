"""Small trials that end in every way a trial can; imported in workers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from explorer.errors import BadInput, Diverged
from explorer.records import Point, PredictedCurve, Prediction, Progress, Record, Series

LOSS = Series("loss", "curve", "loss", {"seed": 1})


def steps(count: int = 5, pause: float = 0.0, device: str = "") -> Iterator[Record]:
    yield LOSS
    for i in range(count):
        time.sleep(pause)
        yield Point("loss", i, 1 / (i + 1))
        yield Progress((i + 1) / count, tokens=100 * (i + 1), note=device)


def waits_for(path: str, device: str) -> Iterator[Record]:
    """Yields until a file appears."""
    yield LOSS
    i = 0
    while not Path(path).exists():
        time.sleep(0.01)
        yield Point("loss", i, 1.0)
        i += 1


def hangs(device: str) -> Iterator[Record]:
    yield LOSS
    yield Point("loss", 0, 1.0)
    while True:
        time.sleep(3600)


def raises(device: str) -> Iterator[Record]:
    yield LOSS
    yield Point("loss", 0, 1.0)
    raise ValueError("heads must divide width")


def refuses(device: str) -> Iterator[Record]:
    yield LOSS
    raise BadInput("width is 3, expected a multiple of 4.")


def diverges(device: str) -> Iterator[Record]:
    yield LOSS
    yield Point("loss", 0, 1.0)
    yield Point("loss", 7, float("nan"))


def says_diverged(device: str) -> Iterator[Record]:
    yield LOSS
    raise Diverged("The loss grew beyond 1e6 at step 3.")


def kills_itself(device: str) -> Iterator[Record]:
    yield LOSS
    yield Point("loss", 0, 1.0)
    os.kill(os.getpid(), signal.SIGKILL)
    yield Point("loss", 1, 1.0)


def leaves(device: str) -> Iterator[Record]:
    yield LOSS
    os._exit(3)


def needs_memory(how: str, device: str) -> Iterator[Record]:
    """Meets a real limit of the operating system."""
    import resource

    import torch

    yield LOSS
    yield Point("loss", 0, 1.0)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
    if how == "torch":
        torch.ones(1 << 30)
    else:
        bytearray(1 << 30)


def seals(path: str, device: str) -> Iterator[Record]:
    """Leaves a file once training has gone on after the prediction."""
    yield LOSS
    yield Point("loss", 0, 1.0)
    yield Prediction(
        "bigger", "curve", "power law", {"a": 1.0}, [PredictedCurve("loss", "law", [1.0], [2.0])]
    )
    Path(path).write_text("trained on")
    yield Point("loss", 1, 1.0)


def tells_origin(device: str) -> Iterator[Record]:
    """One series whose labels say in what surroundings the trial runs."""
    import sys

    main = sys.modules["__main__"]
    yield Series(
        "origin",
        "curve",
        "origin",
        {
            "parent": os.getppid(),
            "nice": os.nice(0),
            "threads": os.environ["OMP_NUM_THREADS"],
            "malloc": os.environ.get("MALLOC_TRIM_THRESHOLD_", ""),
            "main": str(getattr(main, "__file__", None)),
            "panel": "panel" in sys.modules,
        },
    )


def optimises(device: str) -> Iterator[Record]:
    """A real, tiny training."""
    import torch

    weight = torch.nn.Linear(4, 1)
    optimiser = torch.optim.AdamW(weight.parameters(), fused=True)
    yield LOSS
    for step in range(3):
        loss = weight(torch.ones(8, 4)).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        yield Point("loss", step, loss)


def pauses_after_two_points(device: str) -> Iterator[Record]:
    yield LOSS
    yield Point("loss", 0, 1.0)
    yield Point("loss", 1, 1.0)
    time.sleep(3600)


def says_nonsense(device: str) -> Iterator[str]:
    yield "nonsense"


WRONG_RECORDS = {
    "note": Progress(0.5, note=None),
    "done": Progress("half"),
    "done nan": Progress(float("nan")),
    "tokens": Progress(0.5, tokens=None),
    "huge tokens": Progress(0.5, tokens=2**70),
    "key": Series(["loss"], "curve", "loss"),
    "label": Series("other", "curve", None),
    "not text": Series("other", "curve", "\ud800"),
    "labels": Series("other", "curve", "other", {"seed": object()}),
    "x": Point("loss", None, 1.0),
    "y": Point("loss", 1.0, "high"),
    "series": Point(["loss"], 1.0, 1.0),
    "coefficients": Prediction("bigger", "curve", "power law", {"a": "steep"}, []),
    "curves": Prediction("bigger", "curve", "power law", {}, [PredictedCurve("loss", "law", [1.0], None)]),
}


def says_wrong(which: str, device: str) -> Iterator[Record]:
    yield LOSS
    yield Point("loss", 0, 1.0)
    yield WRONG_RECORDS[which]


def sends_garbage(message: str, device: str) -> Iterator[Record]:
    """Writes on the wire past all checks."""
    import gc

    from explorer.engine.worker import Line

    yield LOSS
    yield Point("loss", 0, 1.0)
    line = next(one for one in gc.get_objects() if isinstance(one, Line))
    line._wire.send_bytes(message.encode())
    time.sleep(3600)


def does_not_declare(device: str) -> Iterator[Record]:
    yield Point("loss", 0, 1.0)


def exits(device: str) -> Iterator[Record]:
    yield LOSS
    raise SystemExit(2)
