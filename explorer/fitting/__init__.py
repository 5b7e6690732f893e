"""Fitting laws to runs: robust losses, global search, intervals.

result = fit(law("chinchilla"), {"N": N, "D": D}, loss)
result.certificate
result.predict({"N": 1e9, "D": 2e10})
lower, upper = result.resample(n=200).interval({"N": 1e9, "D": 2e10})
profile(result, optimal_parameters(result.law, 1e24), coverage=0.9)
identify(result).advice
influence(result).movers("beta", 5).sentence
compare([law("chinchilla"), law("kaplan")], {"N": N, "D": D}, loss).sentences
"""

from explorer.fitting.bootstrap import Ensemble
from explorer.fitting.compare import Contest, Score, compare
from explorer.fitting.identify import Advice, Identification, identify
from explorer.fitting.influence import Influence, Movers, influence
from explorer.fitting.notes import Note, notes_at
from explorer.fitting.penalty import Huber, LogSquares, Penalty, Quantile, Squares
from explorer.fitting.profile import ProfileInterval, profile
from explorer.fitting.search import Certificate
from explorer.fitting.solution import Fit, fit, objective
from explorer.fitting.target import optimal_parameters, optimal_tokens
from explorer.fitting.wild import wild

__all__ = [
    "Advice",
    "Certificate",
    "Contest",
    "Ensemble",
    "Fit",
    "Huber",
    "Identification",
    "Influence",
    "LogSquares",
    "Movers",
    "Note",
    "Penalty",
    "ProfileInterval",
    "Quantile",
    "Score",
    "Squares",
    "compare",
    "fit",
    "identify",
    "influence",
    "notes_at",
    "objective",
    "optimal_parameters",
    "optimal_tokens",
    "profile",
    "wild",
]
