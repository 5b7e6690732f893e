"""One file, one writing connection, and as many readers as ask: a reader never waits for the writer."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from explorer.errors import StoreError
from explorer.runs import schema
from explorer.runs.faults import told

_BUSY_SECONDS = 5.0


class Connections:
    """Opens the file, makes or updates its tables, and lends connections. Usable from any thread.

    Args:
        path: the database; it is made if missing, its folder is not.
        readonly: never write.
        busy_seconds: how long to wait for a lock that another process holds.

    Raises:
        StoreError: the file or folder cannot be used; nothing in it was changed.
    """

    def __init__(self, path: Path, readonly: bool = False, busy_seconds: float = _BUSY_SECONDS) -> None:
        self.path = path
        self.readonly = readonly
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._mode = "mode=ro"
        self._closed = False
        self._check_place()
        with told(path, "open"):
            self._writer = None if readonly else self._open_for_writing()
            with self.reading() as connection:
                self._check_ours(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed when the block ends, undone if it raises."""
        if self.readonly or self._writer is None:
            raise StoreError(f"The store {self.path} was opened for reading; open it without readonly=True.")
        with self._lock, told(self.path, "write to"):
            self._refuse_if_closed()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # SQLite has already undone it after some faults, a full disk among them.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the store as long as the block lasts."""
        with told(self.path, "read"):
            self._refuse_if_closed()
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                connection = self._connect(self._mode)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")
                if self._closed:
                    connection.close()
                else:
                    self._idle.put(connection)

    def close(self) -> None:
        """Close every connection; a read under way closes its own when it is done."""
        with self._lock:
            self._closed = True
            while True:
                try:
                    self._idle.get_nowait().close()
                except queue.Empty:
                    break
            if self._writer is not None:
                self._writer.close()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError(f"The store {self.path} is closed; open it again with Store(path).")

    def _check_place(self) -> None:
        folder = self.path.parent
        with told(self.path, "open"):
            if self.path.is_dir():
                raise StoreError(f"The store {self.path} is a folder; give the path of a file in it.")
            if not folder.exists():
                raise StoreError(
                    f"The folder {folder} of the store does not exist; make it or choose another."
                )
            if not folder.is_dir():
                raise StoreError(
                    f"The store {self.path} cannot be made: {folder} is a file; choose a path in a folder."
                )
            if self.readonly and not self.path.exists():
                raise StoreError(
                    f"There is no store {self.path} to read; check the path, or leave out readonly=True."
                )

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{mode}",
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        if self.readonly and mode == "mode=ro":
            try:
                connection.execute("PRAGMA schema_version").fetchone()
            except sqlite3.OperationalError as error:
                connection.close()
                # SQLite wants a lock file beside the store, and says one or the other when it cannot have it.
                locked_out = error.sqlite_errorcode & 0xFF in (
                    sqlite3.SQLITE_CANTOPEN,
                    sqlite3.SQLITE_READONLY,
                )
                if not locked_out or self._log_exists():
                    raise
                # A store in a read-only folder: no writer can be there, so it may be read without locks.
                self._mode = "mode=ro&immutable=1"
                return self._connect(self._mode)
        return connection

    def _log_exists(self) -> bool:
        return self.path.with_name(self.path.name + "-wal").exists()

    def _open_for_writing(self) -> sqlite3.Connection:
        connection = self._connect("mode=rwc")
        try:
            if self._check_ours(connection, may_be_empty=True) < len(schema.MIGRATIONS):
                schema.migrate(connection)
            # Only now, since it changes the file. A commit then survives the death of any process.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 67108864")
            connection.execute("BEGIN IMMEDIATE")  # a read-only file is refused now, not at the first point
            connection.execute("ROLLBACK")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.close()
            raise
        return connection

    def _check_ours(self, connection: sqlite3.Connection, may_be_empty: bool = False) -> int:
        """Schema version of the file, once it is known to be a store of this program's that it can read."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version = schema.version(connection)
        if may_be_empty and application == 0 and tables == 0 and version == 0:
            return 0
        if application != schema.APPLICATION_ID:
            raise StoreError(
                f"The file {self.path} is a database of another program; choose another path, "
                "it was left as it is."
            )
        newest = len(schema.MIGRATIONS)
        if version > newest:
            raise StoreError(
                f"The store {self.path} has schema {version}, this program knows up to {newest}; "
                "install a newer Scaling Explorer or choose another path."
            )
        if version < newest and not may_be_empty:
            raise StoreError(
                f"The store {self.path} has the older schema {version}; open it once for writing to bring it "
                f"to {newest}."
            )
        return version
