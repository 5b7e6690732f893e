import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sample_run import LOSS, new_run

from explorer.runs import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        yield store


@pytest.fixture
def run_id(store):
    """A run that trains, with one series declared."""
    run_id = new_run(store)
    store.begin(run_id, {"device": "cpu", "dtype": "float32", "versions": {"torch": "2"}, "pid": 1})
    store.append(run_id, [LOSS])
    return run_id


@pytest.fixture
def as_nobody(tmp_path):
    """A block in which this process has no rights of its own; root would write everywhere."""

    for folder in [tmp_path, *tmp_path.parents]:
        if os.geteuid() == 0 and str(folder).startswith(tempfile.gettempdir() + "/pytest"):
            folder.chmod(0o755)  # pytest closes them to all others

    @contextmanager
    def nobody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return nobody
