"""The measured tables that some tests fit: they lie beside the repository, not in it."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def shared_data() -> Path:
    """The folder of measured tables; the test is skipped without it, but fails where CI must have it."""
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"The measured tables are missing: expected them in {folder}.")
        pytest.skip(f"no measured tables in {folder}")
    return folder


@pytest.fixture
def table(shared_data):
    """Reads a table: `table("folder/file.csv")` gives a dictionary of columns, as floats where all are."""

    def read(name):
        with (shared_data / name).open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        columns = {}
        for key in rows[0]:
            values = [row[key] for row in rows]
            try:
                columns[key] = np.array(values, float)
            except ValueError:
                columns[key] = np.array(values)
        return columns

    return read
