"""A plain table of finished runs from a file: one row a run, columns N, D, C, M, U and loss under usual names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from explorer.errors import BadInput
from explorer.numbers import read_number

NAMES = {
    "N": ("n", "params", "parameters", "num_params", "model_size"),
    "D": ("d", "tokens", "training_tokens", "num_tokens"),
    "C": ("c", "flops", "compute", "training_flops"),
    "M": ("m", "tokens_per_parameter"),
    "U": ("u", "unique_tokens", "unique"),
    "loss": ("loss", "l", "val_loss", "final_loss", "validation_loss"),
}
LARGEST = 256 * 2**20  # bytes; a table of runs is small


def table_names(path: Path | str) -> tuple[str, ...]:
    """What a formula may call the columns of a table: N, D, C, M, U as far as known, and their own names.

    Raises:
        BadInput: no such file, or not a table.
    """
    frame = _frame(Path(path))
    known = {name for name in NAMES if _column(frame, name) is not None} - {"loss"}
    if len(known & {"N", "D", "C"}) >= 2:
        known |= {"N", "D", "C", "M"}
    own = [str(name) for name in frame.columns if str(name).isidentifier() and name != _column(frame, "loss")]
    return tuple(dict.fromkeys([*sorted(known), *own]))


def read_table(path: Path | str, wanted: Collection[str]) -> dict[str, np.ndarray]:
    """Read the loss and what is wanted from a .csv, .tsv, .parquet or .jsonl file.

    A missing one of N, D and C is computed from the other two by C = 6ND, and M, tokens per parameter, is D/N.

    Args:
        path: of the file.
        wanted: N, D, C, M, U, or columns by their own names.

    Returns:
        float64 arrays of one length by name.

    Raises:
        BadInput: no such file, not a table, a cell that is not a number (with its row), or no loss column.
    """
    path = Path(path)
    frame = _frame(path)
    known: dict[str, np.ndarray] = {}
    # What is missing may be computed from the others; a column that nothing needs may hold anything.
    there = {name for name in NAMES if _column(frame, name) is not None}
    own = {name for name in wanted if name not in there and name in map(str, frame.columns)}
    needed = {"loss", *wanted} & there
    if not set(wanted) <= there | own:
        needed |= {"N", "D", "C"} & there
    for name in sorted(needed):
        known[name] = _numbers(path, str(_column(frame, name)), frame[_column(frame, name)])
    for name in sorted(own):
        known[name] = _numbers(path, name, frame[name])
    if "loss" not in known:
        raise BadInput(
            f"{path.name} has no loss column. It has: {', '.join(map(str, frame.columns))}. "
            f"Name it one of: {', '.join(NAMES['loss'])}."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        if "D" not in known and {"N", "C"} <= known.keys():
            known["D"] = known["C"] / (6 * known["N"])
        elif "N" not in known and {"D", "C"} <= known.keys():
            known["N"] = known["C"] / (6 * known["D"])
        elif "C" not in known and {"N", "D"} <= known.keys():
            known["C"] = 6 * known["N"] * known["D"]
        if "M" not in known and {"N", "D"} <= known.keys():
            known["M"] = known["D"] / known["N"]
    return known


def _column(frame, name: str):  # type: ignore[no-untyped-def]
    """The column that goes under one of the usual names of `name`; None if there is none."""
    return next((c for c in frame.columns if str(c).strip().lower() in NAMES[name]), None)


def _frame(path: Path):  # type: ignore[no-untyped-def]
    import pandas as pd

    if not path.is_file():
        raise BadInput(f"There is no file {path}. Give the path of a .csv, .tsv, .parquet or .jsonl file.")
    if path.stat().st_size > LARGEST:
        raise BadInput(
            f"{path.name} has {path.stat().st_size / 2**20:,.0f} MiB; at most {LARGEST // 2**20} are read."
        )
    readers = {
        ".csv": lambda: pd.read_csv(path, sep=None, engine="python"),
        ".tsv": lambda: pd.read_csv(path, sep="\t"),
        ".parquet": lambda: pd.read_parquet(path),
        ".jsonl": lambda: pd.read_json(path, lines=True),
    }
    if path.suffix.lower() not in readers:
        raise BadInput(f"{path.name} ends in {path.suffix or 'nothing'!r}; known are {', '.join(readers)}.")
    try:
        frame = readers[path.suffix.lower()]()
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{path.name} cannot be read as a table: {first}") from None
    if frame.empty:
        raise BadInput(f"{path.name} has no rows.")
    return frame


def _numbers(path: Path, column: str, values) -> np.ndarray:  # type: ignore[no-untyped-def]
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    for row in np.flatnonzero(np.isnan(numbers)):
        cell = values.iloc[int(row)]
        place = f"{path.name}, row {row + 1}, column {column}"
        if pd.isna(cell):
            raise BadInput(f"{place} is empty. Fill it in, or leave the row out.")
        try:
            numbers[row] = read_number(str(cell))
        except BadInput as error:
            raise BadInput(f"{place}: {error}") from None
    return numbers
