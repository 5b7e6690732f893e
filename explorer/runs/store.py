"""The store: every run, its points as they come, its sealed predictions and its verdicts, in one file."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import platformdirs

from explorer.agreement import Agreement
from explorer.errors import BadInput, StoreError
from explorer.records import Measured, Point, Prediction, Progress, Series
from explorer.runs import canonical, export, owner, schema
from explorer.runs.connections import Connections
from explorer.runs.faults import told
from explorer.runs.run import OPEN, Run, Sealed, State
from explorer.runs.thinning import log_spaced, with_extremes

_RUN_COLUMNS = (
    "id, exhibit, trial, size, session, state, sentence, sliders, arguments, seeds, facts, created, started, "
    "finished, done, tokens, note, points, series"
)
_SELECT_RUN = f"SELECT {_RUN_COLUMNS} FROM run"


def default_path() -> Path:
    """The store of this user: a file in the folder that the system keeps for a program's data."""
    return Path(platformdirs.user_data_dir("scaling-explorer", appauthor=False)) / "runs.sqlite"


class Store:
    """Runs in a SQLite file. One process writes a run, any number read; all methods work from any thread.

    Args:
        path: the file, made if missing; None for this user's own store.
        readonly: read only, and never mark a run as interrupted.

    Raises:
        StoreError: the file cannot be used. Nothing in it was changed.
    """

    def __init__(self, path: Path | str | None = None, readonly: bool = False) -> None:
        if path is None:
            path = default_path()
            if not readonly:
                with told(path, "make"):
                    path.parent.mkdir(parents=True, exist_ok=True)
        self.path = Path(path)
        self.readonly = readonly
        self._connections = Connections(self.path, readonly)
        self._owners = owner.Watch()
        if not readonly:
            self.refresh_interrupted()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Runs left open stay so until their process is gone."""
        self._connections.close()

    # -- what a run writes

    def create(
        self,
        *,
        exhibit: str,
        trial: str,
        size: str,
        sliders: dict[str, Any],
        arguments: dict[str, Any],
        seeds: int,
        session: str = "",
    ) -> str:
        """Enter a run as queued, owned by this process, and return its id.

        Raises:
            BadInput: sliders or arguments hold something that JSON has no word for.
        """
        pid, process_started = owner.this_process()
        columns: dict[str, Any] = {
            "exhibit": exhibit,
            "trial": trial,
            "size": size,
            "session": session,
            "state": "queued",
            "sliders": canonical.text(sliders, "the sliders"),
            "arguments": canonical.text(arguments, "the arguments"),
            "seeds": int(seeds),
            "owner_pid": pid,
            "owner_started": process_started,
        }
        with self._connections.writing() as connection:
            now = time.time()
            while True:
                # UTC, so that ids sort by time; the random end tells runs of one second apart.
                run_id = f"{time.strftime('%y%m%d-%H%M%S', time.gmtime(now))}-{secrets.token_hex(2)}"
                if not connection.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone():
                    break
            columns |= {"id": run_id, "created": now}
            marks = ", ".join("?" * len(columns))
            connection.execute(
                f"INSERT INTO run ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values())
            )
        return run_id

    def begin(self, run_id: str, facts: dict[str, Any]) -> None:
        """Note that the run trains now, and where.

        Args:
            facts: what the worker says of itself: device, dtype, versions, pid.
        """
        with self._connections.writing() as connection:
            key = self._open_key(connection, run_id)
            connection.execute(
                "UPDATE run SET state = 'running', started = ?, facts = ? WHERE key = ?",
                (time.time(), canonical.text(facts, "the facts"), key),
            )

    def append(self, run_id: str, records: Sequence[Series | Point]) -> None:
        """Store declarations and points in their order; all are committed when this returns, or none.

        Raises:
            BadInput: a number is not finite, a series was not declared or is declared anew with other
                content, or the run has ended.
            StoreError: the disk is full or the file cannot be written.
        """
        if not records:
            return
        with self._connections.writing() as connection:
            key = self._open_key(connection, run_id)
            known: dict[str, _Growing] = {}
            declared = 0
            rows: list[tuple[int, int, int, float, float]] = []
            for record in records:
                if isinstance(record, Series):
                    declared += _declare(connection, key, record)
                    continue
                growing = known.get(record.series)
                if growing is None:
                    growing = known[record.series] = _Growing.read(connection, key, record.series, run_id)
                rows.append(growing.grow(key, record))
            connection.executemany("INSERT INTO point (run, series, n, x, y) VALUES (?, ?, ?, ?, ?)", rows)
            connection.executemany(
                "UPDATE series SET count = ?, low_n = ?, low_y = ?, high_n = ?, high_y = ? "
                "WHERE run = ? AND series = ?",
                [(g.count, g.low_n, g.low_y, g.high_n, g.high_y, key, g.number) for g in known.values()],
            )
            connection.execute(
                "UPDATE run SET points = points + ?, series = series + ? WHERE key = ?",
                (len(rows), declared, key),
            )

    def progress(self, run_id: str, progress: Progress) -> None:
        """Remember how far the run is; only the last word is kept."""
        with self._connections.writing() as connection:
            told = connection.execute(
                "UPDATE run SET done = ?, tokens = ?, note = ? WHERE id = ?",
                (float(progress.done), int(progress.tokens), progress.note, run_id),
            )
            if told.rowcount == 0:
                raise self._unknown(connection, run_id)

    def seal(self, run_id: str, prediction: Prediction) -> Sealed:
        """Store a prediction for good: from now on it cannot be changed, only read.

        Raises:
            BadInput: the run has already sealed a prediction of this name.
        """
        content = canonical.text(prediction, f"the prediction {prediction.name!r}")
        digest = _digest(content)
        sealed_at = time.time()
        with self._connections.writing() as connection:
            key = self._open_key(connection, run_id)
            if connection.execute(
                "SELECT 1 FROM prediction WHERE run = ? AND name = ?", (key, prediction.name)
            ).fetchone():
                raise BadInput(
                    f"The run {run_id} has already sealed a prediction called {prediction.name!r}; "
                    "it cannot be changed. Give the new one another name."
                )
            connection.execute(
                "INSERT INTO prediction (run, name, content, sealed_at, digest) VALUES (?, ?, ?, ?, ?)",
                (key, prediction.name, content, sealed_at, digest),
            )
        return Sealed(canonical.value(content, Prediction), sealed_at, digest)

    def finish(self, run_id: str, state: State, sentence: str = "") -> None:
        """End the run in a final state. A run that has ended keeps its first end."""
        if state in OPEN:
            raise BadInput(
                f"A run cannot end as {state!r}; give a final state such as 'finished' or 'failed'."
            )
        with self._connections.writing() as connection:
            key = self._key(connection, run_id)
            connection.execute(
                "UPDATE run SET state = ?, sentence = ?, finished = ? "
                "WHERE key = ? AND state IN ('queued', 'running')",
                (state, sentence, time.time(), key),
            )

    def record_agreement(self, run_id: str, agreement: Agreement) -> None:
        """Keep the verdict; the latest of each name counts."""
        content = canonical.text(agreement, f"the agreement {agreement.name!r}")
        with self._connections.writing() as connection:
            key = self._key(connection, run_id)
            connection.execute(
                "INSERT OR REPLACE INTO agreement (run, name, content, judged_at) VALUES (?, ?, ?, ?)",
                (key, agreement.name, content, time.time()),
            )

    def delete(self, run_id: str) -> None:
        """Delete the run with all that belongs to it, its predictions included.

        Raises:
            BadInput: the run has not ended, and the process that it belongs to lives.
        """
        with self._connections.writing() as connection:
            key = self._key(connection, run_id)
            state, pid, started = connection.execute(
                "SELECT state, owner_pid, owner_started FROM run WHERE key = ?", (key,)
            ).fetchone()
            if state in OPEN and owner.lives(pid, started):
                raise BadInput(
                    f"The run {run_id} is still {state}, in process {pid}; only a run that has ended can be "
                    "deleted. Stop it first, then delete it."
                )
            connection.execute("DELETE FROM run WHERE key = ?", (key,))

    # -- what is read back

    def run(self, run_id: str) -> Run:
        """The run called `run_id`; BadInput if there is none."""
        with self._connections.reading() as connection:
            key = self._key(connection, run_id)
            return _run(connection.execute(f"{_SELECT_RUN} WHERE key = ?", (key,)).fetchone())

    def runs(
        self, exhibit: str | None = None, trial: str | None = None, limit: int = 50, offset: int = 0
    ) -> list[Run]:
        """The runs of an exhibit, of a trial or of all, newest first."""
        where, values = _where(exhibit, trial)
        with self._connections.reading() as connection:
            rows = connection.execute(
                f"{_SELECT_RUN} {where} ORDER BY key DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            ).fetchall()
        return [_run(row) for row in rows]

    def count(self, exhibit: str | None = None, trial: str | None = None) -> int:
        """How many runs `runs` would list without a limit."""
        where, values = _where(exhibit, trial)
        with self._connections.reading() as connection:
            return connection.execute(f"SELECT count(*) FROM run {where}", values).fetchone()[0]

    def measured(self, run_id: str, most: int | None = None) -> Measured:
        """The points of a run.

        Args:
            most: at most so many points of each series, log-spaced in the order of measurement, with first,
                last, lowest and highest among them; None for all.
        """
        with self._connections.reading() as connection:
            key = self._key(connection, run_id)
            return Measured(
                {
                    series.key: (series, *_points(connection, key, number, count, extremes, most))
                    for number, series, count, extremes in _all_series(connection, key)
                }
            )

    def since(
        self, run_id: str, cursor: dict[str, int], most: int = 2000
    ) -> tuple[list[Series], list[tuple[str, float, float]], dict[str, int]]:
        """What came since the last call: new series, new points as (series, x, y), and the next cursor.

        Args:
            cursor: {} at first, then what the last call returned.
            most: at most so many points of each series; a longer backlog is thinned as in `measured`.
        """
        with self._connections.reading() as connection:
            row = connection.execute("SELECT key, points, series FROM run WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise self._unknown(connection, run_id)
            key, points, declared = row
            if points == sum(cursor.values()) and declared == len(cursor):
                return [], [], cursor
            fresh: list[Series] = []
            new: list[tuple[str, float, float]] = []
            for number, series, count, extremes in _all_series(connection, key):
                seen = cursor.get(series.key)
                if seen is None:
                    fresh.append(series)
                if count > (seen or 0):
                    x, y = _points(connection, key, number, count, extremes, most, start=seen or 0)
                    new += zip([series.key] * len(x), x.tolist(), y.tolist(), strict=True)
                cursor = {**cursor, series.key: count}
            return fresh, new, cursor

    def predictions(self, run_id: str) -> list[Sealed]:
        """The sealed predictions of the run, in the order they were sealed. `sealed_count` is cheaper.

        Raises:
            StoreError: one was changed after it was sealed.
        """
        with self._connections.reading() as connection:
            key = self._key(connection, run_id)
            rows = connection.execute(
                "SELECT name, content, sealed_at, digest FROM prediction WHERE run = ? ORDER BY rowid", (key,)
            ).fetchall()
        for name, content, _, digest in rows:
            if _digest(content) != digest:
                raise StoreError(
                    f"The prediction {name!r} of run {run_id} was changed after it was sealed: its content no "
                    "longer has the digest that was stored with it. Restore a copy of the store, or delete the "
                    "run and train again."
                )
        return [Sealed(canonical.value(content, Prediction), at, digest) for _, content, at, digest in rows]

    def sealed_count(self, run_id: str) -> int:
        """How many predictions of the run are sealed: while it stays the same, so do `predictions`."""
        with self._connections.reading() as connection:
            key = self._key(connection, run_id)
            return connection.execute("SELECT count(*) FROM prediction WHERE run = ?", (key,)).fetchone()[0]

    def agreements(self, run_id: str) -> list[Agreement]:
        """The latest verdict of each name."""
        with self._connections.reading() as connection:
            key = self._key(connection, run_id)
            rows = connection.execute(
                "SELECT content FROM agreement WHERE run = ? ORDER BY judged_at", (key,)
            ).fetchall()
        return [canonical.value(content, Agreement) for (content,) in rows]

    def export(self, run_id: str, path: Path | str) -> Path:
        """Write every point of the run with its labels to a .csv or .parquet file, replacing it if it exists.

        Raises:
            BadInput: another suffix, or a path that cannot be written; an existing file is then unharmed.
        """
        return export.write(self.run(run_id), self.measured(run_id), Path(path))

    def health(self) -> dict[str, Any]:
        """State of the store: path, readonly, size in bytes, schema, integrity ("ok"), and counts.

        "predictions altered" counts those that no longer have the digest they were sealed with.
        """
        with self._connections.reading() as connection:
            return {
                "path": str(self.path),
                "readonly": self.readonly,
                "size": sum(
                    file.stat().st_size
                    for suffix in ("", "-wal")
                    if (file := self.path.with_name(self.path.name + suffix)).exists()
                ),
                "schema": schema.version(connection),
                "integrity": connection.execute("PRAGMA quick_check(1)").fetchone()[0],
                "runs": connection.execute("SELECT count(*) FROM run").fetchone()[0],
                "points": connection.execute("SELECT coalesce(sum(points), 0) FROM run").fetchone()[0],
                "predictions": connection.execute("SELECT count(*) FROM prediction").fetchone()[0],
                "predictions altered": sum(
                    _digest(content) != digest
                    for content, digest in connection.execute("SELECT content, digest FROM prediction")
                ),
            }

    # -- keys and owners

    def _key(self, connection: sqlite3.Connection, run_id: str) -> int:
        row = connection.execute("SELECT key FROM run WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise self._unknown(connection, run_id)
        return row[0]

    def _open_key(self, connection: sqlite3.Connection, run_id: str) -> int:
        key = self._key(connection, run_id)
        (state,) = connection.execute("SELECT state FROM run WHERE key = ?", (key,)).fetchone()
        if state not in OPEN:
            raise BadInput(
                f"The run {run_id} has ended ({state}); nothing can be added to it. Start a new run."
            )
        return key

    def _unknown(self, connection: sqlite3.Connection, run_id: str) -> BadInput:
        ids = [row[0] for row in connection.execute("SELECT id FROM run ORDER BY key DESC LIMIT 1000")]
        nearest = difflib.get_close_matches(str(run_id), ids, n=1)
        if nearest:
            return BadInput(
                f"There is no run {run_id!r}; the nearest id is {nearest[0]!r}. Look at the list of runs."
            )
        if ids:
            return BadInput(f"There is no run {run_id!r}; look at the list of runs.")
        return BadInput(f"There is no run {run_id!r}; the store {self.path} is empty.")

    def owner_lives(self, run_id: str) -> bool:
        """Whether the process that the run belongs to lives; while it does not, no more points come.

        Cheap enough to ask at every look: another process is checked at most once a second.
        """
        with self._connections.reading() as connection:
            row = connection.execute(
                "SELECT owner_pid, owner_started FROM run WHERE id = ?", (run_id,)
            ).fetchone()
            if row is None:
                raise self._unknown(connection, run_id)
        return self._owners.lives(*row)

    def refresh_interrupted(self) -> None:
        """End as interrupted the open runs whose process is gone; done whenever a store is opened."""
        with self._connections.reading() as connection:
            rows = connection.execute(
                "SELECT key, owner_pid, owner_started FROM run WHERE state IN ('queued', 'running')"
            ).fetchall()
        gone = [key for key, pid, started in rows if not owner.lives(pid, started)]
        if gone:
            with self._connections.writing() as connection:
                connection.executemany(
                    "UPDATE run SET state = 'interrupted', finished = ?, sentence = "
                    "'The program ended before this run did; the ' || points || ' points so far are kept.' "
                    "WHERE key = ? AND state IN ('queued', 'running')",
                    [(time.time(), key) for key in gone],
                )


def _digest(content: str | bytes) -> str:
    """SHA-256 of what is stored; raw SQL may have left bytes where text was."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


class _Growing:
    """A series while points are added to it: its length and where its extremes are."""

    def __init__(self, row: tuple[Any, ...], run_id: str) -> None:
        self.number, self.count, self.low_n, self.low_y, self.high_n, self.high_y = row
        self.run_id = run_id

    @classmethod
    def read(cls, connection: sqlite3.Connection, run_key: int, series_key: str, run_id: str) -> _Growing:
        row = connection.execute(
            "SELECT series, count, low_n, low_y, high_n, high_y FROM series WHERE run = ? AND key = ?",
            (run_key, series_key),
        ).fetchone()
        if row is None:
            raise BadInput(
                f"The run {run_id} has a point of the series {series_key!r}, which was not declared; "
                "give its Series record before its first Point."
            )
        return cls(row, run_id)

    def grow(self, run_key: int, point: Point) -> tuple[int, int, int, float, float]:
        """The row of the next point."""
        x, y = float(point.x), float(point.y)
        if not (math.isfinite(x) and math.isfinite(y)):
            raise BadInput(
                f"The run {self.run_id} has the point ({x:g}, {y:g}) in the series {point.series!r}; "
                "only finite numbers are stored. Leave such a point out, or end the run as diverged."
            )
        n = self.count
        self.count += 1
        if self.low_n is None or y < self.low_y:
            self.low_n, self.low_y = n, y
        if self.high_n is None or y > self.high_y:
            self.high_n, self.high_y = n, y
        return run_key, self.number, n, x, y


def _declare(connection: sqlite3.Connection, run_key: int, series: Series) -> int:
    """Enter a series; 1 if it is new, 0 if the same declaration is there already."""
    labels = canonical.text(series.labels, f"the labels of the series {series.key!r}")
    row = connection.execute(
        "SELECT figure, label, labels FROM series WHERE run = ? AND key = ?", (run_key, series.key)
    ).fetchone()
    if row is not None:
        if row == (series.figure, series.label, labels):
            return 0
        raise BadInput(
            f"The series {series.key!r} is declared twice with different content; give each its own key."
        )
    connection.execute(
        "INSERT INTO series (run, series, key, figure, label, labels) "
        "SELECT ?, count(*), ?, ?, ?, ? FROM series WHERE run = ?",
        (run_key, series.key, series.figure, series.label, labels, run_key),
    )
    return 1


def _all_series(connection: sqlite3.Connection, run_key: int) -> Iterator[tuple[int, Series, int, list[int]]]:
    """Number, declaration, length and places of the extremes of each series, in order of declaration."""
    rows = connection.execute(
        "SELECT series, key, figure, label, labels, count, low_n, high_n FROM series "
        "WHERE run = ? ORDER BY series",
        (run_key,),
    ).fetchall()
    for number, key, figure, label, labels, count, low_n, high_n in rows:
        extremes = [low_n, high_n] if count else []
        yield number, Series(key, figure, label, json.loads(labels)), count, extremes


def _points(
    connection: sqlite3.Connection,
    run_key: int,
    number: int,
    count: int,
    extremes: list[int],
    most: int | None,
    start: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the points start, ..., count - 1 of a series, thinned before they are read."""
    if most is None or count - start <= max(most, 4):
        rows = connection.execute(
            "SELECT x, y FROM point WHERE run = ? AND series = ? AND n >= ? AND n < ? ORDER BY n",
            (run_key, number, start, count),
        )
        size = count - start
    else:
        chosen = with_extremes(log_spaced(start, count, max(most, 4) - 2), extremes, start, count)
        rows = connection.execute(
            "SELECT x, y FROM json_each(?) AS wanted "
            "JOIN point ON point.run = ? AND point.series = ? AND point.n = wanted.value ORDER BY wanted.key",
            (json.dumps(chosen.tolist()), run_key, number),
        )
        size = len(chosen)
    table = np.fromiter(rows, dtype=np.dtype((float, 2)), count=size)
    return table[:, 0].copy(), table[:, 1].copy()


def _where(exhibit: str | None, trial: str | None) -> tuple[str, tuple[str, ...]]:
    given = {"exhibit": exhibit, "trial": trial}
    chosen = {name: text for name, text in given.items() if text is not None}
    return (
        "WHERE " + " AND ".join(f"{name} = ?" for name in chosen) if chosen else "",
        tuple(chosen.values()),
    )


def _run(row: tuple[Any, ...]) -> Run:
    told = dict(zip(_RUN_COLUMNS.split(", "), row, strict=True))
    progress = Progress(told.pop("done"), told.pop("tokens"), told.pop("note"))
    for name in ("sliders", "arguments", "facts"):
        told[name] = json.loads(told[name])
    return Run(progress=progress, **told)
