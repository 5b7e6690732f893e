"""Trials in background processes: nothing of torch is loaded here."""

from explorer.engine.engine import Engine
from explorer.engine.job import Job
from explorer.engine.sink import Sink

__all__ = ["Engine", "Job", "Sink"]
