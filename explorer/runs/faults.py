"""What SQLite's and the file system's refusals mean to a person."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.errors import StoreError

_MEANING = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space or delete runs, then try again. "
    "What was stored before is unharmed",
    sqlite3.SQLITE_BUSY: "another process keeps it locked; close that process or wait, then try again",
    sqlite3.SQLITE_LOCKED: "another connection keeps it locked; wait, then try again",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; open it with readonly=True, "
    "or copy it to a folder that can be written",
    sqlite3.SQLITE_PERM: "this user may not write it; choose a path in a folder of your own",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that this user may read and write its folder",
    sqlite3.SQLITE_NOTADB: "it is not a database; choose another path, the file was left as it is",
    sqlite3.SQLITE_CORRUPT: "its content is damaged; restore a copy, or move it away to start anew",
    sqlite3.SQLITE_IOERR: "the disk does not answer as it should; check the disk and its free space",
}


@contextmanager
def told(path: Path, doing: str) -> Iterator[None]:
    """Turn a refusal of SQLite or of the file system into a StoreError that names the file.

    Args:
        path: file of the store.
        doing: what was attempted, e.g. "write to".
    """
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the kind of fault, the rest its detail.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        meaning = _MEANING.get(code, f"SQLite says: {error}")
        raise StoreError(f"Cannot {doing} the store {path}: {meaning}.") from error
    except OSError as error:
        raise StoreError(
            f"Cannot {doing} the store {path}: {error.strerror or error}; choose another path."
        ) from error
