"""Controls and plots that live as well in a notebook cell as in the app."""

from widgets.bar_editor import BarEditor
from widgets.entry_controls import EntriesControl
from widgets.exhibit_view import ExhibitView
from widgets.law_figure import LawFigure
from widgets.lesson_card import LessonCard
from widgets.live_run import LiveRun
from widgets.measured_layer import MeasuredLayer
from widgets.readouts import ReadoutPanel
from widgets.run_bar import RunBar
from widgets.sealed import SealedCard
from widgets.simplex_editor import SimplexEditor
from widgets.sliders import ChoiceSelect, QuantitySlider, control_for
from widgets.tables import TablePanel
from widgets.trial_view import TrialView
from widgets.verdict import VerdictCard

__all__ = [
    "BarEditor",
    "ChoiceSelect",
    "EntriesControl",
    "ExhibitView",
    "LawFigure",
    "LessonCard",
    "LiveRun",
    "MeasuredLayer",
    "QuantitySlider",
    "ReadoutPanel",
    "RunBar",
    "SealedCard",
    "SimplexEditor",
    "TablePanel",
    "TrialView",
    "VerdictCard",
    "control_for",
]
