"""The tables of the store, as the ordered steps that make them."""

from __future__ import annotations

import sqlite3

# Written into the file's header, so that another program's database is never taken for ours.
APPLICATION_ID = int.from_bytes(b"ScEx", "big")

# Step i takes a file from version i to version i + 1. A published step is never edited: add another.
MIGRATIONS: list[tuple[str, ...]] = [
    (
        """
        CREATE TABLE run (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            exhibit TEXT NOT NULL,
            trial TEXT NOT NULL,
            size TEXT NOT NULL,
            session TEXT NOT NULL,
            state TEXT NOT NULL,
            sentence TEXT NOT NULL DEFAULT '',
            sliders TEXT NOT NULL,
            arguments TEXT NOT NULL,
            seeds INTEGER NOT NULL,
            facts TEXT NOT NULL DEFAULT '{}',
            owner_pid INTEGER NOT NULL,
            owner_started REAL NOT NULL,
            created REAL NOT NULL,
            started REAL,
            finished REAL,
            done REAL NOT NULL DEFAULT 0,
            tokens INTEGER NOT NULL DEFAULT 0,
            note TEXT NOT NULL DEFAULT '',
            points INTEGER NOT NULL DEFAULT 0,
            series INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX run_by_trial ON run (exhibit, trial)",
        # A search for runs that nobody finished must not read the table.
        "CREATE INDEX run_open ON run (state) WHERE state IN ('queued', 'running')",
        # count, low and high let a thinned read find its rows without looking at the others.
        """
        CREATE TABLE series (
            run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
            series INTEGER NOT NULL,
            key TEXT NOT NULL,
            figure TEXT NOT NULL,
            label TEXT NOT NULL,
            labels TEXT NOT NULL,
            count INTEGER NOT NULL DEFAULT 0,
            low_n INTEGER,
            low_y REAL,
            high_n INTEGER,
            high_y REAL,
            PRIMARY KEY (run, series),
            UNIQUE (run, key)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE point (
            run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
            series INTEGER NOT NULL,
            n INTEGER NOT NULL,
            x REAL NOT NULL,
            y REAL NOT NULL,
            PRIMARY KEY (run, series, n)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE prediction (
            run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
            name TEXT NOT NULL,
            content TEXT NOT NULL,
            sealed_at REAL NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (run, name)
        )
        """,
        """
        CREATE TRIGGER prediction_is_not_replaced BEFORE INSERT ON prediction
        WHEN EXISTS (SELECT 1 FROM prediction WHERE run = NEW.run AND name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'a sealed prediction cannot be replaced'); END
        """,
        """
        CREATE TRIGGER prediction_is_not_changed BEFORE UPDATE ON prediction
        BEGIN SELECT RAISE(ABORT, 'a sealed prediction cannot be changed'); END
        """,
        # When a run is deleted, its row is gone before its predictions follow it.
        """
        CREATE TRIGGER prediction_is_not_deleted BEFORE DELETE ON prediction
        WHEN EXISTS (SELECT 1 FROM run WHERE key = OLD.run)
        BEGIN SELECT RAISE(ABORT, 'a sealed prediction is deleted only with its run'); END
        """,
        """
        CREATE TABLE agreement (
            run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
            name TEXT NOT NULL,
            content TEXT NOT NULL,
            judged_at REAL NOT NULL,
            PRIMARY KEY (run, name)
        )
        """,
    ),
]


def version(connection: sqlite3.Connection) -> int:
    """Schema version of the open file; 0 if it has no tables of ours yet."""
    return connection.execute("PRAGMA user_version").fetchone()[0]


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the open file to the newest version, wholly or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[version(connection) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
