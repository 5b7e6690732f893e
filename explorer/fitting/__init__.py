"""Fitting laws to runs: robust losses, intervals.

result = fit(law("chinchilla"), {"N": N, "D": D}, loss)
result.predict({"N": 1e9, "D": 2e10})
lower, upper = result.resample(n=200).interval({"N": 1e9, "D": 2e10})
"""

from explorer.fitting.bootstrap import Ensemble
from explorer.fitting.solution import Fit, fit, objective

__all__ = ["Ensemble", "Fit", "fit", "objective"]
