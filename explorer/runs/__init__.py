"""The store of runs: what was predicted, what was measured, what was concluded."""

from explorer.runs.run import Run, Sealed, State
from explorer.runs.store import Store, default_path
from explorer.runs.thinning import kept, log_spaced

__all__ = ["Run", "Sealed", "State", "Store", "default_path", "kept", "log_spaced"]
