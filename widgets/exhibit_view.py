"""A whole exhibit, drawn from its declaration: sliders, figures, readouts, training, verdict and lesson."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.errors import ExplorerError
from explorer.exhibits import Exhibit
from explorer.lab import Lab, Training
from widgets.law_figure import LawFigure
from widgets.measured_layer import MeasuredLayer
from widgets.readouts import ReadoutPanel
from widgets.run_bar import RunBar, run_name
from widgets.sealed import SealedCard
from widgets.sliders import control_for
from widgets.verdict import VerdictCard

PERIOD, PERIOD_A_PAGE = 100, 10  # ms between looks at a live run
HEIGHT, MEASURED_HEIGHT = 330, 420  # px
GROUPS = {"law": "The law", "data": "Size and data", "training": "The live run"}
SIDE_BY_SIDE = {
    "display": "grid",
    "grid-template-columns": "repeat(auto-fill, minmax(min(100%, 400px), 1fr))",
    "align-items": "start",
}
RUNS_LISTED = 30
NO_PRESET = "none"


class ExhibitView(Viewer):
    """Sliders left, figures right, the run above them.

    Args:
        exhibit: what is shown; several views may share a lab, each has its own exhibit.
        lab: where trials run and are stored.
        session: whose place in the queue a trial takes.
        run_id: the run to show first; the latest one by default.
        moved: called after a slider moved or a run was chosen, with nothing; the page keeps its address by it.
    """

    _watching: weakref.WeakSet[ExhibitView] = weakref.WeakSet()

    def __init__(
        self,
        exhibit: Exhibit,
        lab: Lab,
        *,
        session: str = "notebook",
        run_id: str | None = None,
        moved: Callable[[], None] | None = None,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.exhibit, self.lab, self.session, self._moved = exhibit, lab, session, moved
        self.controls = {name: control_for(exhibit, name, self._slider_moved) for name in exhibit.sliders()}
        trials = exhibit.trials()
        self.trial = next(iter(trials.values())) if trials else None
        measured_on = {spec.figure for spec in trials.values()}
        specs = exhibit.figures()
        self.figures = {
            name: LawFigure(exhibit, name, height=MEASURED_HEIGHT if name in measured_on else HEIGHT)
            for name, spec in specs.items()
            if spec.shown or name in measured_on
        }
        laws = {spec.title: name for name, spec in specs.items() if name not in measured_on}
        self._places = {
            name: pn.Column(sizing_mode="stretch_width", margin=0, visible=False) for name in laws.values()
        }
        self._grid = pn.Column(
            *self._places.values(), sizing_mode="stretch_width", styles=SIDE_BY_SIDE, margin=0
        )
        self.chooser = pmui.CheckButtonGroup(
            label="Figures",
            options=laws,
            value=[name for name in laws.values() if name in self.figures],
            size="small",
            margin=(0, 10),
        )
        self.chooser.param.watch(lambda _: self._show_figures(), "value")
        self.readouts = ReadoutPanel(exhibit)
        self.training: Training | None = None
        self._callback: Any = None
        self._covered = True
        if self.trial is not None:
            self.layer = MeasuredLayer(self.figures[self.trial.figure])
            self.sealed, self.verdict = SealedCard(), VerdictCard()
            self.bar = RunBar(self.trial, self._train, self._stop, self._pick)
        # Empty until there is a run; filled on its own, so that the laws below are not drawn anew.
        self._section = pn.Column(sizing_mode="stretch_width", margin=0)
        self._layout = self._build()
        if self.trial is not None:
            self._list_runs(run_id)

    # -- predict ----------------------------------------------------------------------------------------------

    def _slider_moved(self) -> None:
        with pn.io.hold():
            self.refresh()
        self._tell_moved()

    def _tell_moved(self) -> None:
        if self._moved is not None:
            self._moved()

    def refresh(self) -> None:
        """Redraw every figure on screen and the numbers, and let the other controls follow."""
        for name, figure in self.figures.items():
            if name in self.chooser.value or (self.trial and name == self.trial.figure):
                figure.refresh()
        self.readouts.refresh()
        for control in self.controls.values():
            control.sync()
        if self.exhibit.presets and self.preset.value != (now := self._preset_now()):
            self.preset.value = now

    def restore(self, values: dict[str, Any], trusted: bool = True) -> None:
        """Set sliders from a link, a preset or Python. Raises BadInput and changes nothing if one cannot be used."""
        self.exhibit.restore(values, trusted)
        self._slider_moved()

    # -- train ------------------------------------------------------------------------------------------------

    def _train(self, size: str) -> None:
        assert self.trial is not None
        try:
            training = self.lab.train(self.exhibit, self.trial.name, size, self.session)
        except ExplorerError as error:
            self.bar.say(str(error))
            return
        self._show_run(training)
        self._list_runs(training.id, show=False)
        self._tell_moved()

    def _stop(self) -> None:
        if self.training is not None:
            self.training.stop()

    def _pick(self, run_id: str) -> None:
        if self.training is None or run_id != self.training.id:
            try:
                self._show_run(self.lab.training(run_id))
            except ExplorerError as error:
                self.bar.say(str(error))
                return
            self._tell_moved()

    def _list_runs(self, chosen: str | None, show: bool = True) -> None:
        assert self.trial is not None
        runs = self.lab.store.runs(exhibit=self.exhibit.slug, trial=self.trial.name, limit=RUNS_LISTED)
        names = {}
        for run in runs:
            verdicts = [one.verdict for one in self.lab.store.agreements(run.id)]
            names[run_name(run, verdicts[0] if verdicts else "")] = run.id
        first = chosen or (runs[0].id if runs else None)
        self.bar.list_runs(names, first if first in names.values() else None)
        if show and first is not None:
            self._show_run(self.lab.training(first))
        elif show:
            self.bar.say(self.exhibit.figures()[self.trial.figure].empty)

    def _show_run(self, training: Training) -> None:
        """Put this run above the laws, and follow it while it lives."""
        assert self.trial is not None
        self.training = training
        # Without the figure until there is something on it: Bokeh never ends drawing a log axis that lost all its data.
        self._section.objects = [self.sealed, self.verdict]
        self._covered = True
        self.layer.watch(training)
        if self._look():
            self._watching.add(self)
            pn.state.onload(self._follow)  # at once, but not while the page is still being made

    def _uncover(self) -> None:
        """Put the measured figure in its place once there is something on it."""
        assert self.trial is not None
        figure = self.figures[self.trial.figure]
        if self._covered and (figure.measured or figure.predicted):
            self._section.insert(0, figure)
            self._covered = False

    def _follow(self) -> None:
        """Look again and again until the run has ended."""
        if self._callback is None:
            self._callback = pn.state.add_periodic_callback(self._tick, period=self._period())
        elif not self._callback.running:
            self._callback.start()

    def _period(self) -> int:
        """Milliseconds between two looks; longer the more pages look, so that one server has time for sliders."""
        return max(PERIOD, PERIOD_A_PAGE * len(self._watching))

    def _look(self) -> bool:
        """Show what has come since the last look.

        Returns:
            whether more may come; False too if the run is gone or cannot be read.
        """
        assert self.training is not None
        try:
            live = self.bar.follow(self.training, self.session)
            self.layer.update()
            self._uncover()
            self.sealed.display(self.layer.sealed.values())
            if live:
                self.verdict.display([], "The verdict comes when the run has ended.")
            else:
                agreements = self.training.agreements()
                self.verdict.display(agreements, "" if agreements else "No verdict: the run did not finish.")
            return live
        except ExplorerError as error:
            self.bar.release()
            self.bar.say(str(error))
            return False

    def _tick(self) -> None:
        assert self.training is not None
        with pn.io.hold():
            live = self._look()
        if not live:
            self.close()
            self._list_runs(self.training.id, show=False)
        elif self._callback is not None and self._callback.period < self._period() // 2:
            self._callback.period = self._period()

    def close(self) -> None:
        """Stop looking; the run itself goes on and is found again in the store."""
        if self._callback is not None and self._callback.running:
            self._callback.stop()
        self._watching.discard(self)

    # -- layout -----------------------------------------------------------------------------------------------

    def _build(self) -> pn.Column:
        paper = self.exhibit.paper
        head = pmui.Column(
            pmui.Typography(self.exhibit.question(), variant="h5", margin=(8, 10, 0, 10)),
            pmui.Typography(paper.citation, variant="body2", margin=(0, 10, 4, 10), sx={"opacity": 0.75}),
            sizing_mode="stretch_width",
        )
        sliders = pn.Column(*self._slider_cards(), sizing_mode="stretch_width", margin=0)
        self._show_figures()
        right = pn.Column(
            *self._lesson_card(),
            self._section,
            self.readouts,
            self.chooser,
            self._grid,
            sizing_mode="stretch_width",
            margin=0,
        )
        body = pmui.Grid(
            pmui.Grid(sliders, size={"xs": 12, "md": 4, "xl": 3}),
            pmui.Grid(right, size={"xs": 12, "md": 8, "xl": 9}),
            container=True,
            spacing=1,
            sizing_mode="stretch_width",
        )
        return pn.Column(
            head, *([self.bar] if self.trial else []), body, sizing_mode="stretch_width", margin=0
        )

    def _lesson_card(self) -> list[Any]:
        text = self.exhibit.lesson()
        if not text:
            return []
        markdown = pn.pane.Markdown(text, sizing_mode="stretch_width", margin=(0, 12))
        title = "Lesson: what to try, in two minutes"
        return [
            pmui.Card(markdown, title=title, collapsed=True, sizing_mode="stretch_width", margin=(0, 0, 8, 0))
        ]

    def _show_figures(self) -> None:
        """Uncover the chosen figures; one that was never shown is drawn now, the others stay as they are."""
        for name, place in self._places.items():
            chosen = name in self.chooser.value
            if chosen and name not in self.figures:
                self.figures[name] = LawFigure(self.exhibit, name, height=HEIGHT)
            if chosen and not place.objects:
                place.append(self.figures[name])
            if chosen:
                self.figures[name].refresh()
            place.visible = chosen

    def _slider_cards(self) -> list[Any]:
        cards: list[Any] = []
        if self.exhibit.presets:
            self.preset = pmui.Select(
                label="Published values",
                options=[NO_PRESET, *self.exhibit.presets],
                value=self._preset_now(),
                size="small",
                sizing_mode="stretch_width",
                margin=(8, 12, 8, 8),
            )
            self.preset.param.watch(self._preset_chosen, "value")
            cards.append(self.preset)
        by_group: dict[str, list[Any]] = {}
        for name, parameter in self.exhibit.sliders().items():
            by_group.setdefault(parameter.group, []).append(self.controls[name])
        for group, controls in by_group.items():
            cards.append(
                pmui.Card(
                    *controls,
                    title=GROUPS.get(group, group.capitalize()),
                    collapsible=True,
                    sizing_mode="stretch_width",
                    margin=(0, 0, 8, 0),
                )
            )
        return cards

    def _preset_now(self) -> str:
        """The published set whose values all stand now."""
        for name, values in self.exhibit.presets.items():
            if all(math.isclose(getattr(self.exhibit, key), value) for key, value in values.items()):
                return name
        return NO_PRESET

    def _preset_chosen(self, event: Any) -> None:
        if event.new not in (NO_PRESET, self._preset_now()):
            self.restore(self.exhibit.presets[event.new])

    def __panel__(self) -> pn.Column:
        return self._layout
