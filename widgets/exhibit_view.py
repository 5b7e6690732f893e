"""A whole exhibit, drawn from its declaration: sliders, figures, readouts, its trials and its lesson."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.exhibits import Exhibit
from explorer.exhibits.lesson import Step
from explorer.lab import Lab, Training
from widgets.law_figure import LawFigure
from widgets.lesson_card import LessonCard
from widgets.readouts import ReadoutPanel
from widgets.sliders import control_for
from widgets.trial_view import SIDE_BY_SIDE, TrialView
from widgets.twin_link import TwinLink, make_board, values

HEIGHT = 330  # px
GROUPS = {"law": "The law", "data": "Size and data", "training": "The live run"}
NO_PRESET = "none"
AS_WIDE_AS_THEIR_WORDS = {
    "flexWrap": "wrap",
    "& .MuiToggleButton-root": {
        "flex": "0 0 auto",
        "width": "auto",
        "textTransform": "none",
        "padding": "2px 10px",
    },
}


class ExhibitView(Viewer):
    """Sliders left, figures right, the trial's controls above them.

    Args:
        exhibit: what is shown; several views may share a lab, each has its own exhibit.
        lab: where trials run and are stored.
        session: whose place in the queue a trial takes.
        run_id: the run to show first, and its trial; by default the first trial and its latest run.
        moved: called after a slider moved or a run was chosen, with nothing; the page keeps its address by it.
    """

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
        specs = exhibit.figures()
        laws = {spec.title: name for name, spec in specs.items() if not spec.live}
        self.figures: dict[str, LawFigure] = {}
        self._places = {
            name: pn.Column(sizing_mode="stretch_width", margin=0, visible=False) for name in laws.values()
        }
        self._grid = pn.Column(
            *self._places.values(), sizing_mode="stretch_width", styles=dict(SIDE_BY_SIDE), margin=0
        )
        self.chooser = pmui.CheckButtonGroup(
            label="Figures",
            options=laws,
            value=[name for name in laws.values() if specs[name].shown],
            size="small",
            margin=(0, 10),
            sx=AS_WIDE_AS_THEIR_WORDS,
        )
        self.chooser.param.watch(lambda _: self._show_figures(), "value")
        self.readouts = ReadoutPanel(exhibit)
        self.lesson = LessonCard(exhibit.lesson(), self._take_step)
        self._build_trials(run_id)
        self._layout = self._build()
        self._board = make_board(exhibit)
        self._links = {
            name: TwinLink(exhibit, figure, self.controls, self._board)
            for name, figure in self.figures.items()
        }

    @property
    def training(self) -> Training | None:
        """The run on show."""
        return self.trial.training if self.trial is not None else None

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
        # What the browser follows by itself is left to it until the slider rests: an answer from here would be late.
        moving = {name for name, control in self.controls.items() if getattr(control, "dragging", False)}
        for name, place in self._places.items():
            if place.visible and not (
                moving and name in self._links and moving <= self._links[name].followed
            ):
                self.figures[name].refresh()
        if not moving:
            self._board.data = values(self.exhibit)
        if self.trial is not None:
            self.trial.refresh()
        self.readouts.refresh()
        for control in self.controls.values():
            control.sync()
        if self.exhibit.presets and self.preset.value != (now := self._preset_now()):
            self.preset.value = now

    def restore(self, wanted: Mapping[str, Any], trusted: bool = True) -> None:
        """Set sliders from a link, a preset or Python. Raises BadInput and changes nothing if one cannot be used."""
        self.exhibit.restore(wanted, trusted)
        self._slider_moved()

    def _take_step(self, step: Step) -> None:
        """What a step of the lesson sets."""
        if step.trial is not None:
            self._trial_chosen(step.trial)
        if step.preset is None and not step.values:
            return
        # From the same place whichever way the step was reached; how runs are trained is left alone.
        defaults = {
            name: self.exhibit.param[name].default
            for name, slider in self.exhibit.sliders().items()
            if slider.group != "training"
        }
        self.exhibit.restore(defaults)
        if step.preset is not None:
            self.exhibit.restore(self.exhibit.presets[step.preset])
        self.restore(step.values)

    # -- train ------------------------------------------------------------------------------------------------

    def _build_trials(self, run_id: str | None) -> None:
        """The trial on show first; the others are built when they are chosen."""
        specs = self.exhibit.trials()
        self._trials: dict[str, TrialView] = {}
        self.trial: TrialView | None = None
        self._bars = pn.Column(sizing_mode="stretch_width", margin=0)
        # Filled on its own, so that the laws below are not drawn anew.
        self._sections = pn.Column(sizing_mode="stretch_width", margin=0)
        self.trials = pmui.Select(
            label="Experiment",
            options={spec.title: name for name, spec in specs.items()},
            size="small",
            sizing_mode="stretch_width",
            max_width=640,
            margin=(6, 8),
            visible=len(specs) > 1,
        )
        if not specs:
            return
        first = self.lab.store.run(run_id).trial if run_id else next(iter(specs))
        self.choose(first if first in specs else next(iter(specs)), run_id)
        self.trials.param.watch(lambda event: self._trial_chosen(event.new), "value")

    def _trial_chosen(self, name: str) -> None:
        if self.trial is None or name != self.trial.spec.name:
            self.choose(name)
            self._tell_moved()

    def choose(self, name: str, run_id: str | None = None) -> None:
        """Put the trial called `name` on show. Raises BadInput if there is none."""
        spec = self.exhibit.trial_spec(name)
        if name not in self._trials:
            view = TrialView(
                self.exhibit, self.lab, spec, session=self.session, run_id=run_id, moved=self._tell_moved
            )
            self._trials[name] = view
            self._bars.append(view.bar)
            self._sections.append(view.section)
        self.trial = self._trials[name]
        self.trial.refresh()
        for index, view in enumerate(self._trials.values()):
            self._bars[index].visible = self._sections[index].visible = view is self.trial
        if self.trials.value != name:
            self.trials.value = name
        self._show_figures()

    def close(self) -> None:
        """Stop looking at runs; they go on and are found again in the store."""
        for view in self._trials.values():
            view.close()

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
            self.lesson,
            self._sections,
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
        return pn.Column(head, self.trials, self._bars, body, sizing_mode="stretch_width", margin=0)

    def _show_figures(self) -> None:
        """Uncover the chosen figures; one that was never shown is drawn now, the others stay as they are.

        A figure that the trial on show draws its points on stands there, not twice.
        """
        above = self.trial.at_once if self.trial is not None else []
        for name, place in self._places.items():
            chosen = name in self.chooser.value and name not in above
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
        sliders = self.exhibit.sliders()
        for name, preset in self.exhibit.presets.items():
            if all(sliders[key].same(getattr(self.exhibit, key), value) for key, value in preset.items()):
                return name
        return NO_PRESET

    def _preset_chosen(self, event: Any) -> None:
        if event.new not in (NO_PRESET, self._preset_now()):
            self.restore(self.exhibit.presets[event.new])

    def __panel__(self) -> pn.Column:
        return self._layout
