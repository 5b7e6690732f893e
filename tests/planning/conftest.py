"""The measured tables that one test reads: they lie beside the repository, not in it."""

import os
from pathlib import Path

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
