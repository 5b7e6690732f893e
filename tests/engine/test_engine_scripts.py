"""The engine in a plain program of its own: no main guard, no torch in it, and no process left behind it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from engine_recorder import gone

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)])}

# No `if __name__ == "__main__"`: a worker that imported this file again would start an engine of its own.
PROGRAM = """
import sys
from pathlib import Path
from engine_recorder import Recorder
from explorer.engine import Engine

with Path(sys.argv[1]).open("a") as runs:
    runs.write("run\\n")
engine = Engine(workers=2, start_method=sys.argv[2])
sink = Recorder()
job = engine.submit("engine_trials:" + sys.argv[3], {}, sink)
sink.has_point.wait(60)
print(sink.pid, flush=True)
state = job.wait(60)
print(state, "torch" in sys.modules, "OMP_NUM_THREADS" in __import__("os").environ, flush=True)
"""


@pytest.fixture
def program(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path / "runs"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={name: value for name, value in ENVIRONMENT.items() if name != "OMP_NUM_THREADS"},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_a_script_without_main_guard(program, tmp_path, method):
    process = program(method, "steps")
    output, _ = process.communicate(timeout=60)
    assert output.splitlines()[1:] == ["finished False False"] and process.returncode == 0
    assert (tmp_path / "runs").read_text() == "run\n"
    assert gone(int(output.splitlines()[0]), 30)


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_the_workers_of_a_killed_app_end(program, method):
    process = program(method, "hangs")
    worker = int(process.stdout.readline())
    helpers = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    assert worker in helpers
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert gone(worker, 30)
    assert all(gone(pid, 30) for pid in helpers)


def test_an_app_that_just_ends_takes_its_workers_along(tmp_path):
    script = tmp_path / "ends.py"
    script.write_text(PROGRAM.replace("state = job.wait(60)", "state = job.state"))
    output = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "runs"), "forkserver", "hangs"],
        capture_output=True,
        text=True,
        timeout=60,
        env=ENVIRONMENT,
        check=True,
    )
    assert output.stdout.splitlines()[1].startswith("running False") and output.stderr == ""
    assert gone(int(output.stdout.splitlines()[0]), 30)
