"""A million points: stored, drawn thinned and read whole, beside plain SQLite in the same run.

python benchmarks/store.py
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np

from explorer.records import Point, Series
from explorer.runs import Store

POINTS, BATCH = 1_000_000, 10_000


def timed(action) -> tuple[float, object]:  # type: ignore[no-untyped-def]
    begin = time.perf_counter()
    result = action()
    return time.perf_counter() - begin, result


def plain_sqlite(path: Path, y: np.ndarray) -> float:
    """Seconds to insert the same numbers into a bare table, in transactions of the same size."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE point (n INTEGER PRIMARY KEY, x REAL, y REAL)")

    def insert() -> None:
        for start in range(0, POINTS, BATCH):
            connection.execute("BEGIN")
            rows = ((n, float(n), y[n].item()) for n in range(start, start + BATCH))
            connection.executemany("INSERT INTO point VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")

    seconds, _ = timed(insert)
    connection.close()
    return seconds


def main() -> None:
    y = np.random.default_rng(0).normal(size=POINTS)
    with tempfile.TemporaryDirectory() as folder:
        bare = plain_sqlite(Path(folder) / "bare.sqlite", y)
        with Store(Path(folder) / "runs.sqlite") as store:
            run = store.create(exhibit="e", trial="t", size="s", sliders={}, arguments={}, seeds=1)
            store.append(run, [Series("a", "f", "a")])

            def fill() -> None:
                for start in range(0, POINTS, BATCH):
                    store.append(run, [Point("a", n, y[n].item()) for n in range(start, start + BATCH)])

            filled, _ = timed(fill)
            thinned, drawn = timed(lambda: store.measured(run, most=2000))
            whole, _ = timed(lambda: store.measured(run))
            cursor = store.since(run, {})[2]
            nothing, _ = timed(lambda: [store.since(run, cursor) for _ in range(1000)])
            exported, _ = timed(lambda: store.export(run, Path(folder) / "points.parquet"))
    print(f"store {POINTS:,} points: {filled:.2f} s, plain SQLite {bare:.2f} s, ratio {filled / bare:.2f}")
    print(
        f"read {len(drawn):,} of them for the screen: {1e3 * thinned:.1f} ms, all: {1e3 * whole:.0f} ms, "  # type: ignore[arg-type]
        f"{whole / thinned:.0f} times quicker thinned"
    )
    print(f"a look that finds nothing new: {1e3 * nothing:.1f} µs; export as Parquet: {exported:.2f} s")


if __name__ == "__main__":
    main()
