"""Train, Stop, how far it is, and which earlier run is on show."""

from __future__ import annotations

import time
from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from explorer.exhibits import TrialSpec
from explorer.lab import Training
from explorer.numbers import write_number
from explorer.runs import Run


def duration(seconds: float) -> str:
    """About how long, in words: 12 s, 3 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def status_line(run: Run, training: Training, live: bool) -> str:
    """State, what it is doing, rate, time left and device, in one line."""
    job = training.job
    if not live:
        # A store that could not take the end of the run still has it as running; its job knows better.
        told = run.sentence or (job.sentence if job is not None else "")
        return told or f"{run.state.capitalize()}."
    parts = [run.state if run.state == "queued" else (run.progress.note or "starting")]
    if job is not None and run.state == "running":
        if job.tokens_per_second:
            parts.append(f"{write_number(job.tokens_per_second, 3)} tokens/s")
        if job.seconds_left is not None:
            parts.append(f"about {duration(job.seconds_left)} left")
    if run.device:
        parts.append(f"on {run.device}")
    return " · ".join(parts)


def run_name(run: Run, verdict: str = "") -> str:
    """How a stored run is called in a list."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    return f"{when} · {run.size} · {verdict or run.state} · {run.id[-4:]}"


class RunBar(Viewer):
    """The controls of one trial.

    Args:
        trial: what is trained.
        train: called with the size when Train is pressed.
        stop: called when Stop is pressed.
        pick: called with a run's id when an earlier run is chosen.
    """

    def __init__(
        self,
        trial: TrialSpec,
        train: Callable[[str], None],
        stop: Callable[[], None],
        pick: Callable[[str], None],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.trial = trial
        default = "default" if "default" in trial.sizes else trial.sizes[0]
        self.size = pmui.Select(
            label="Size",
            options={f"{size} · about {duration(trial.seconds[size])}": size for size in trial.sizes},
            value=default,
            size="small",
            width=190,
            margin=(6, 8),
        )
        self.start = pmui.Button(
            label="Train", icon="play_arrow", color="primary", variant="contained", margin=(8, 8)
        )
        self.halt = pmui.Button(
            label="Stop", icon="stop", color="error", variant="outlined", disabled=True, margin=(8, 8)
        )
        self.runs = pmui.Select(
            label="Runs", options={}, size="small", width=380, margin=(6, 8), visible=False
        )
        self.bar = pmui.LinearProgress(
            value=0, variant="determinate", sizing_mode="stretch_width", margin=(0, 10)
        )
        self.status = pn.pane.HTML("", sizing_mode="stretch_width", margin=(2, 10))
        self.start.on_click(lambda _: train(self.size.value))
        self.halt.on_click(lambda _: stop())
        self._pick, self._listing = pick, False
        self.runs.param.watch(self._picked, "value")

    def _picked(self, event: Any) -> None:
        if event.new and not self._listing:
            self._pick(event.new)

    def list_runs(self, runs: dict[str, str], chosen: str | None) -> None:
        """Offer these runs, by name to id, with one of them chosen."""
        self._listing = True
        try:
            # Emptied first: the closed box would go on showing the old name of a run that keeps its place.
            self.runs.param.update(options={}, value=None)
            self.runs.param.update(options=runs, value=chosen, visible=bool(runs))
        finally:
            self._listing = False

    def release(self) -> None:
        """Nothing runs any more that could be stopped."""
        self.start.disabled, self.halt.disabled = False, True

    def say(self, text: str) -> None:
        html = f"<span role='status' aria-live='polite'>{escape(text)}</span>"
        if self.status.object != html:
            self.status.object = html

    def follow(self, training: Training, session: str = "") -> bool:
        """Follow this run.

        Args:
            training: the run on show.
            session: who looks; while its own run goes on, it cannot start another by a second click.

        Returns:
            whether it is still going on.
        """
        # Whether it lives is asked before how it stands: the other way round, its end could fall in between.
        live, run = training.live, training.run
        owner = training.job.owner if live and training.job is not None else None
        for button, disabled in ((self.halt, owner is None), (self.start, owner == session)):
            if button.disabled != disabled:
                button.disabled = disabled
        percent = int(100 * run.progress.done)
        if self.bar.value != percent:
            self.bar.value = percent
        self.say(status_line(run, training, live))
        return live

    def __panel__(self) -> pn.Column:
        controls = pmui.FlexBox(self.start, self.halt, self.size, self.runs, sizing_mode="stretch_width")
        return pn.Column(controls, self.bar, self.status, sizing_mode="stretch_width", margin=0)
