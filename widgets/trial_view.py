"""One trial of an exhibit: its run bar, the figures its points are drawn on, what was sealed, and the verdict."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.agreement import in_short
from explorer.errors import ExplorerError
from explorer.exhibits import Exhibit, FigureSpec, TrialSpec
from explorer.lab import Lab, Training
from widgets.law_figure import LawFigure
from widgets.live_run import LiveRun
from widgets.run_bar import RunBar, run_name
from widgets.sealed import SealedCard
from widgets.tables import TablePanel
from widgets.verdict import VerdictCard

PERIOD, PERIOD_A_PAGE = 100, 10  # ms between looks at a live run
HEIGHT, SMALL_HEIGHT = 420, 360  # px
RUNS_LISTED = 30
AT_ONCE = 4  # figures of a trial that are seen before one asks for the others
SIDE_BY_SIDE = {
    "display": "grid",
    "grid-template-columns": "repeat(auto-fill, minmax(min(100%, 400px), 1fr))",
    "align-items": "start",
}

log = logging.getLogger(__name__)


class TrialView(Viewer):
    """Train, watch and judge one trial. `bar` and `section` are placed by the page; the view itself is both.

    Args:
        exhibit: its sliders give the prediction.
        lab: where trials run and are stored.
        spec: the trial.
        session: whose place in the queue a run takes.
        run_id: the run to show first; the latest one by default.
        moved: called with nothing after a run was started or chosen.
    """

    _watching: weakref.WeakSet[TrialView] = weakref.WeakSet()

    def __init__(
        self,
        exhibit: Exhibit,
        lab: Lab,
        spec: TrialSpec,
        *,
        session: str = "notebook",
        run_id: str | None = None,
        moved: Callable[[], None] | None = None,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.exhibit, self.lab, self.spec, self.session = exhibit, lab, spec, session
        self._moved = moved or (lambda: None)
        self.training: Training | None = None
        self._callback: Any = None
        height = HEIGHT if len(spec.figures) == 1 else SMALL_HEIGHT
        self.figures = {name: LawFigure(exhibit, name, height=height) for name in spec.figures}
        self.live = LiveRun(self.figures.values())
        self.bar = RunBar(spec, self._train, self._stop, self._pick)
        self.sealed, self.verdict, self.tables = SealedCard(), VerdictCard(), TablePanel()
        self._places = {
            name: pn.Column(sizing_mode="stretch_width", margin=0, visible=False) for name in self.figures
        }
        styles = SIDE_BY_SIDE if len(spec.figures) > 1 else {}
        places = list(self._places.values())
        first, self._others = (
            pn.Column(*some, sizing_mode="stretch_width", styles=dict(styles), margin=0)
            for some in (places[:AT_ONCE], places[AT_ONCE:])
        )
        # The rest waits behind a switch, so that the verdict stands near what it is about.
        more = len(places) - AT_ONCE
        self.more = pmui.Switch(label=f"{more} more figures of this run", visible=more > 0, margin=(4, 10))
        self.more.param.watch(lambda _: self._uncover(), "value")
        self.section = pn.Column(
            first,
            self.verdict,
            self.tables,
            self.sealed,
            self.more,
            self._others,
            sizing_mode="stretch_width",
            margin=0,
        )
        self._uncover()
        self._list_runs(run_id)

    @property
    def at_once(self) -> list[str]:
        """The figures that are seen without asking for the others."""
        return list(self.figures)[:AT_ONCE]

    def refresh(self) -> None:
        """Redraw what the sliders predict on this trial's figures."""
        for figure in self.figures.values():
            figure.refresh()
        self._uncover()

    # -- a run --------------------------------------------------------------------------------------------------

    def _train(self, size: str) -> None:
        try:
            training = self.lab.train(self.exhibit, self.spec.name, size, self.session)
        except ExplorerError as error:
            self.bar.say(str(error))
            return
        self.show(training)
        self._list_runs(training.id, show=False)
        self._moved()

    def _stop(self) -> None:
        if self.training is not None:
            self.training.stop()

    def _pick(self, run_id: str) -> None:
        if self.training is None or run_id != self.training.id:
            try:
                self.show(self.lab.training(run_id))
            except ExplorerError as error:
                self.bar.say(str(error))
                return
            self._moved()

    def _list_runs(self, chosen: str | None, show: bool = True) -> None:
        runs = self.lab.store.runs(exhibit=self.exhibit.slug, trial=self.spec.name, limit=RUNS_LISTED)
        names = {}
        for run in runs:
            names[run_name(run, in_short(self.lab.store.agreements(run.id)))] = run.id
        first = chosen or (runs[0].id if runs else None)
        self.bar.list_runs(names, first if first in names.values() else None)
        if show and first is not None:
            self.show(self.lab.training(first))
        elif show:
            self.bar.say(self._before_a_run())

    def _before_a_run(self) -> str:
        """What a first run would show, in the words of the first figure that waits for one."""
        waiting = [figure.spec.empty for figure in self.figures.values() if figure.spec.live]
        told = [text for text in waiting if text != FigureSpec.empty]
        return told[0] if told else "Press Train. What is predicted is sealed before the run starts."

    def show(self, training: Training) -> None:
        """Put this run on the figures, and follow it while it lives."""
        self.training = training
        # Live figures only once there is something on them: Bokeh never ends drawing a log axis that lost all its data.
        for name, figure in self.figures.items():
            if figure.spec.live:
                self._places[name].objects = []
        self.tables.display([])
        self.live.watch(training)
        if self._look():
            self._watching.add(self)
            pn.state.onload(self._follow)  # at once, but not while the page is still being made

    def _uncover(self) -> None:
        """Put each figure in its place once there is something on it."""
        if self._others.visible != self.more.value:
            self._others.visible = self.more.value
        shown = list(self.figures) if self.more.value else self.at_once
        for name in shown:
            figure, place = self.figures[name], self._places[name]
            if not place.objects and (figure.measured or figure.predicted or not figure.spec.live):
                place.append(figure)
            if place.visible != bool(place.objects):
                place.visible = bool(place.objects)

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
            self.live.update()
            self._uncover()
            self.sealed.display(self.live.sealed.values())
            if live:
                self.verdict.display([], "The verdict comes when the run has ended.")
            else:
                self._judge()
            return live
        except ExplorerError as error:
            self.bar.release()
            self.bar.say(str(error))
            return False

    def _judge(self) -> None:
        """The verdicts and the tables of a run that has ended."""
        assert self.training is not None
        agreements = self.training.agreements()
        finished = self.training.run.state == "finished"
        otherwise = "This trial makes no claim." if finished else "No verdict: the run did not finish."
        self.verdict.display(agreements, "" if agreements else otherwise)
        try:
            self.tables.display(self.training.tables())
        except ExplorerError:
            raise
        except Exception:
            log.exception("the tables of run %s cannot be made", self.training.id)
            if finished:
                self.bar.say(
                    "The run ended, but its tables cannot be made from what is stored; the log says why."
                )

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

    def __panel__(self) -> pn.Column:
        return pn.Column(self.bar, self.section, sizing_mode="stretch_width", margin=0)
