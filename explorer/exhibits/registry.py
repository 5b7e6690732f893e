"""Finds exhibits: every folder beside this file that has an exhibit.py, and those other packages register."""

from __future__ import annotations

import difflib
import importlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path

from explorer.errors import BadInput
from explorer.exhibits.contract import Exhibit

ENTRY_POINTS = "scaling_explorer.exhibits"
PATIENCE = 10.0  # seconds an exhibit may take to import before it is listed as too slow

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """An exhibit as found: its class, or the sentence that says why it cannot be shown."""

    slug: str
    cls: type[Exhibit] | None
    error: str = ""


def _exhibit_class(module_name: str) -> type[Exhibit]:
    module = importlib.import_module(module_name)
    for member in vars(module).values():
        if isinstance(member, type) and issubclass(member, Exhibit) and member.__module__ == module.__name__:
            return member
    raise BadInput(f"{module_name} declares no Exhibit class.")


def check(slug: str, cls: type[Exhibit]) -> None:
    """Raise BadInput, naming what is wrong, if the class does not keep the contract."""
    if cls.slug != slug:
        raise BadInput(f"The exhibit in the place of {slug!r} calls itself {cls.slug!r}: give both one name.")
    if not cls.question() or not getattr(cls, "paper", None):
        raise BadInput(f"{slug} needs a question, as the first line of its docstring, and a paper.")
    figures, trials = cls.figures(), cls.trials()
    for spec in trials.values():
        for drawn in spec.figures or ("",):
            if drawn not in figures:
                raise BadInput(f"The trial {spec.name} draws on {drawn!r}; {slug} has: {', '.join(figures)}.")
        if not {"quick", "default"} <= set(spec.sizes):
            raise BadInput(
                f"The trial {spec.name} has the sizes {', '.join(spec.sizes)}; give quick and default."
            )
    for agreed in cls.agreements().values():
        if agreed.trial not in trials:
            raise BadInput(
                f"The agreement {agreed.name} is about {agreed.trial!r}; {slug} has: {', '.join(trials)}."
            )


def _load(slug: str, load: Callable[[], type[Exhibit]], patience: float) -> Entry:
    """Import one exhibit without letting it take the others down, by error or by time."""
    result: list[Entry] = []

    def attempt() -> None:
        try:
            cls = load()
            cls.slug = cls.slug or slug
            check(slug, cls)
            result.append(Entry(slug, cls))
        except BaseException as error:  # SystemExit too: nothing an exhibit does may take the gallery down
            log.exception("exhibit %s cannot be loaded", slug)
            result.append(Entry(slug, None, f"{type(error).__name__}: {error}"))

    thread = threading.Thread(target=attempt, name=f"load-{slug}", daemon=True)
    thread.start()
    thread.join(patience)
    return result[0] if result else Entry(slug, None, f"It took longer than {patience:g} s to load.")


def _loaders() -> dict[str, Callable[[], type[Exhibit]]]:
    """How to load each exhibit, by slug; nothing is imported yet."""
    package = __name__.rpartition(".")[0]
    found: dict[str, Callable[[], type[Exhibit]]] = {}
    for source in sorted(Path(__file__).parent.glob("*/exhibit.py")):
        name = source.parent.name
        found[name.replace("_", "-")] = partial(_exhibit_class, f"{package}.{name}.exhibit")
    for point in entry_points(group=ENTRY_POINTS):
        found.setdefault(point.name, point.load)
    return found


@cache
def discover(patience: float = PATIENCE) -> tuple[Entry, ...]:
    """All exhibits, the flagship first. A broken or slow one is listed with its error.

    Args:
        patience: seconds one exhibit may take to import.
    """
    entries = [_load(slug, load, patience) for slug, load in _loaders().items()]
    return tuple(sorted(entries, key=lambda e: (e.cls.rank if e.cls else 1000, e.slug)))


@cache
def find(slug: str) -> type[Exhibit]:
    """The class of the exhibit called `slug`; no other exhibit is imported.

    Raises:
        BadInput: there is none of that name, or it cannot be loaded.
    """
    loaders = _loaders()
    if slug not in loaders:
        near = difflib.get_close_matches(slug, loaders, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise BadInput(f"There is no exhibit {slug!r}.{hint} There are: {', '.join(loaders)}.")
    entry = _load(slug, loaders[slug], PATIENCE)
    if entry.cls is None:
        raise BadInput(f"The exhibit {slug} cannot be loaded. {entry.error}")
    return entry.cls
