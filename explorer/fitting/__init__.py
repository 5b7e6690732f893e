"""Fitting laws to runs: robust losses, global search, intervals.

result = fit(law("chinchilla"), {"N": N, "D": D}, loss)
result.certificate
result.predict({"N": 1e9, "D": 2e10})
lower, upper = result.resample(n=200).interval({"N": 1e9, "D": 2e10})
"""

from explorer.fitting.bootstrap import Ensemble
from explorer.fitting.penalty import Huber, LogSquares, Penalty, Quantile, Squares
from explorer.fitting.search import Certificate
from explorer.fitting.solution import Fit, fit, objective

__all__ = [
    "Certificate",
    "Ensemble",
    "Fit",
    "Huber",
    "LogSquares",
    "Penalty",
    "Quantile",
    "Squares",
    "fit",
    "objective",
]
