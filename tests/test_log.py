"""The log file takes the details of faults, and a fault of the log itself stays quiet."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging
from explorer.log import keep_log, log_path

keep_log()
if {blocked}:
    log_path().mkdir()  # no file can be written there, as on a full or read-only disk
logging.getLogger("explorer").error("the detail")
print(log_path())
"""


@pytest.mark.parametrize("blocked", [False, True])
def test_a_fault_goes_to_the_log_or_nowhere(tmp_path, blocked):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(blocked=blocked)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={
            **os.environ,
            "XDG_STATE_HOME": str(tmp_path),
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(__file__).parents[1]),
        },
    )
    assert done.stderr == ""
    path = Path(done.stdout.strip())
    assert path.is_relative_to(tmp_path)
    assert path.is_dir() if blocked else "the detail" in path.read_text()
