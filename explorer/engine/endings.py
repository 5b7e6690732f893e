"""How a run ended, in one plain sentence."""

from __future__ import annotations

import signal
import traceback
from pathlib import Path

from explorer.engine.messages import Ended
from explorer.errors import Diverged, ExplorerError

_MEMORY_PHRASES = ("can't allocate memory", "not enough memory", "out of memory", "bad_alloc")
_LONGEST_MESSAGE = 300


def of_exception(error: BaseException, module_file: str | None = None) -> Ended:
    """What an exception in a trial means.

    Args:
        error: as raised.
        module_file: the trial's own source file; the sentence names a line there rather than in a library.
    """
    if _is_memory(error):
        return Ended(
            "out of memory",
            "The trial needed more memory than there is. Choose a smaller size or fewer seeds, train again.",
            trace="".join(traceback.format_exception_only(error)),
        )
    if isinstance(error, Diverged):
        return Ended("diverged", _one_line(error) or "Training left the finite numbers.")
    if isinstance(error, ExplorerError):
        return Ended("failed", _one_line(error))
    trace = "".join(traceback.format_exception(error))
    message = _one_line(error)
    what = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return Ended("failed", f"The trial raised {what}{_place(error, module_file)}", trace)


def of_death(exit_code: int | None) -> str:
    """Why a worker that said nothing is gone.

    Args:
        exit_code: negative: minus the signal that killed it; None: unknown.
    """
    if exit_code is None or exit_code == 255:
        return "The worker disappeared. The points so far are kept; train again."
    if exit_code >= 0:
        return (
            f"The worker left with exit code {exit_code} before the trial was done. "
            "The points so far are kept; train again."
        )
    number = -exit_code
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "unknown"
    reason = " Usually the machine ran out of memory: choose a smaller size." if number == 9 else ""
    return f"The worker was killed by signal {number} ({name}).{reason} The points so far are kept."


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(p in str(error).lower() for p in _MEMORY_PHRASES)


def _one_line(error: BaseException) -> str:
    line = " ".join(str(error).split())
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 1] + "…"


def _place(error: BaseException, module_file: str | None) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if module_file and frame.filename == module_file]
    if own:
        return f" in {Path(own[-1].filename).name} line {own[-1].lineno}."
    # Without a frame of the trial it was never entered, e.g. for a wrong argument: no line would help.
    return "."
