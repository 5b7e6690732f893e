"""A run as a table in a file: one row a point, with the labels of its series."""

from __future__ import annotations

import json
import secrets
import stat
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from explorer.errors import BadInput
from explorer.records import Measured
from explorer.runs.run import Run

_OWN = ("run", "exhibit", "trial", "figure", "series", "label", "x", "y")


def write(run: Run, measured: Measured, path: Path) -> Path:
    """Write all points to `path`: CSV or Parquet by its suffix. The file appears whole or not at all.

    Raises:
        BadInput: another suffix, or the path cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise BadInput(f"Cannot export to {path}: the suffix is {kind!r}, expected .csv or .parquet.")
    try:
        if path.is_dir():
            raise BadInput(f"Cannot export to {path}: it is a folder; give the path of a file in it.")
        if path.exists():
            path.open("ab").close()  # replacing it would not ask whether it may be written
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        part = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{kind}")
        # A new file gets what the umask leaves; one that is replaced is at no time open to more people.
        part.touch(0o666 if mode is None else 0o600, exist_ok=False)
        try:
            _write(run, measured, part, kind)
            if mode is not None:
                part.chmod(mode)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(
            f"Cannot export to {path}: {error.strerror or error}; choose a folder that can be written."
        ) from error
    return path


def _write(run: Run, measured: Measured, path: Path, kind: str) -> None:
    # Loaded here: a page that never exports must not wait for it.
    import pyarrow as pa

    columns = columns_of(run, measured)
    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    if kind == ".csv":
        from pyarrow import csv

        csv.write_csv(table, str(path))
    else:
        from pyarrow import parquet

        about = json.dumps(msgspec.to_builtins(run), sort_keys=True)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"scaling-explorer": about})
        parquet.write_table(table, str(path))


def columns_of(run: Run, measured: Measured) -> dict[str, np.ndarray]:
    """The columns of the table. A label called like one of our columns is written as "label <name>"."""
    curves = list(measured)
    counts = [len(x) for _, x, _ in curves]

    def spread(values: list[Any]) -> np.ndarray:
        return np.repeat(_column(values), counts)

    columns = {
        "run": spread([run.id] * len(curves)),
        "exhibit": spread([run.exhibit] * len(curves)),
        "trial": spread([run.trial] * len(curves)),
        "figure": spread([series.figure for series, _, _ in curves]),
        "series": spread([series.key for series, _, _ in curves]),
        "label": spread([series.label for series, _, _ in curves]),
        "x": np.concatenate([x for _, x, _ in curves] or [np.empty(0)]),
        "y": np.concatenate([y for _, _, y in curves] or [np.empty(0)]),
    }
    for name in sorted({name for series, _, _ in curves for name in series.labels}):
        values = [series.labels.get(name) for series, _, _ in curves]
        columns[f"label {name}" if name in _OWN else name] = spread(values)
    return columns


def _column(values: list[Any]) -> np.ndarray:
    """An array of one kind: as given if all agree, else numbers as float, else everything as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and len(kinds) > 1:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return np.array(values, dtype=object)
