import pytest
from engine_recorder import Recorder

from explorer.engine import Engine


@pytest.fixture(scope="session")
def engine():
    """One for all tests: torch is loaded once."""
    with Engine(workers=1) as engine:
        yield engine


@pytest.fixture
def run(engine):
    """Submit a trial of engine_trials; returns its job and its sink."""

    def submit(name, owner="", **arguments):
        sink = Recorder()
        return engine.submit(f"engine_trials:{name}", arguments, sink, owner=owner), sink

    return submit


@pytest.fixture
def finish(run):
    """The same, waited for."""

    def submit(name, **arguments):
        job, sink = run(name, **arguments)
        job.wait(60)
        return job, sink

    return submit
