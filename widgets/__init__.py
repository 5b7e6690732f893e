"""Controls and plots that live as well in a notebook cell as in the app."""

from widgets.exhibit_view import ExhibitView
from widgets.law_figure import LawFigure
from widgets.measured_layer import MeasuredLayer
from widgets.readouts import ReadoutPanel
from widgets.run_bar import RunBar
from widgets.sealed import SealedCard
from widgets.sliders import ChoiceSelect, QuantitySlider, control_for
from widgets.verdict import VerdictCard

__all__ = [
    "ChoiceSelect",
    "ExhibitView",
    "LawFigure",
    "MeasuredLayer",
    "QuantitySlider",
    "ReadoutPanel",
    "RunBar",
    "SealedCard",
    "VerdictCard",
    "control_for",
]
