"""Exhibits: one folder a paper, and the contract they keep."""

from explorer.exhibits.contract import (
    AgreementSpec,
    Comparison,
    Exhibit,
    FigureSpec,
    Paper,
    TrialSpec,
    agreement,
    figure,
    trial,
)
from explorer.exhibits.entries import Mixture, Profile
from explorer.exhibits.figures import Axis, Curve, Readout, Surface, Table
from explorer.exhibits.quantity import Choice, Count, Quantity
from explorer.exhibits.registry import Entry, discover, find
from explorer.exhibits.twin import Twin

__all__ = [
    "AgreementSpec",
    "Axis",
    "Choice",
    "Comparison",
    "Count",
    "Curve",
    "Entry",
    "Exhibit",
    "FigureSpec",
    "Mixture",
    "Paper",
    "Profile",
    "Quantity",
    "Readout",
    "Surface",
    "Table",
    "TrialSpec",
    "Twin",
    "agreement",
    "discover",
    "figure",
    "find",
    "trial",
]
