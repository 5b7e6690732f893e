"""Where the details of faults are kept, so that people see sentences and not tracebacks."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs


def log_path() -> Path:
    """The log file of this user."""
    return Path(platformdirs.user_log_dir("scaling-explorer", appauthor=False)) / "scaling-explorer.log"


def keep_log() -> None:
    """Send warnings and faults of this process to the log file; without a writable place they are dropped."""
    try:
        path = log_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = RotatingFileHandler(path, maxBytes=2**20, backupCount=1, delay=True)
    except OSError:
        handler = logging.NullHandler()
    form = "%(asctime)s %(name)s %(levelname)s %(message)s"
    # On a full disk logging would print its own traceback into the terminal at every fault it cannot write.
    logging.raiseExceptions = False
    logging.basicConfig(handlers=[handler], level=logging.WARNING, format=form)
