"""Where a trial can train. `available` and `resolve` are for workers: they load torch and look at the GPU."""

from __future__ import annotations

import importlib

from explorer.errors import BadInput


def available() -> list[str]:
    """Usable devices, the fastest kind first: "cuda" (and "cuda:1", ... beyond the first), "mps", "cpu"."""
    torch = importlib.import_module("torch")
    names: list[str] = []
    if torch.cuda.is_available():
        names += ["cuda", *(f"cuda:{i}" for i in range(1, torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        names.append("mps")
    return [*names, "cpu"]


def resolve(name: str = "auto") -> str:
    """The device to train on; "auto" takes cuda before mps before cpu.

    Raises:
        BadInput: the device is not there.
    """
    names = available()
    if name == "auto":
        return names[0]
    check(name, names)
    return name


def check(name: str, names: list[str]) -> None:
    """BadInput unless `name` is "auto" or among the devices `names`."""
    known = {"auto", *names, *(f"{each}:0" for each in names if ":" not in each)}
    if name not in known:
        raise BadInput(
            f"The device {name!r} is not available; this machine has {', '.join(names)}. "
            "Choose one of these, or 'auto'."
        )
