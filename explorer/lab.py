"""Where the three verbs meet: seal a prediction, train in the background, compare what is stored.

The page, the command line and Python all go through a `Lab`; nothing else writes runs.
"""

from __future__ import annotations

import atexit
import logging
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from explorer.agreement import Agreement
from explorer.engine import Engine, Job
from explorer.errors import BadInput, ExplorerError
from explorer.exhibits import Curve, Exhibit, Table, find
from explorer.records import Measured, Point, PredictedCurve, Prediction, Progress, Series
from explorer.runs import Run, Sealed, State, Store

PRELOAD = ("scipy.optimize", "explorer.training.warm")  # what a first trial would else wait for
SLIDERS = "sliders"  # how the predictions are called that are sealed before every trial

log = logging.getLogger(__name__)


class Recorder:
    """Writes what a trial says into the store, in order, and compares at the end."""

    def __init__(self, lab: Lab, run_id: str) -> None:
        self.lab, self.run_id = lab, run_id
        self.settled = threading.Event()

    def started(self, facts: dict[str, Any]) -> None:
        self.lab.store.begin(self.run_id, facts)

    def received(self, records: list[Series | Point]) -> None:
        self.lab.store.append(self.run_id, records)

    def progressed(self, progress: Progress) -> None:
        self.lab.store.progress(self.run_id, progress)

    def sealed(self, prediction: Prediction) -> None:
        self.lab.store.seal(self.run_id, prediction)

    def ended(self, state: str, sentence: str) -> None:
        try:
            if state == "finished":
                try:
                    self.lab.compare(self.run_id)
                except Exception as error:
                    log.exception("run %s cannot be compared", self.run_id)
                    sentence = f"The run finished, but could not be compared: {error}"
            self.lab.store.finish(self.run_id, cast(State, state), sentence)
        finally:
            self.settled.set()


class Training:
    """A run, live or stored: its points, sealed predictions, verdicts, and Stop while it lives."""

    def __init__(
        self, lab: Lab, run_id: str, job: Job | None = None, recorder: Recorder | None = None
    ) -> None:
        self.lab, self.id, self.job, self._recorder = lab, run_id, job, recorder

    @property
    def run(self) -> Run:
        return self.lab.store.run(self.id)

    @property
    def live(self) -> bool:
        """Whether it is queued or running, here or in another process, or its last points are still being stored."""
        if self._recorder is not None:
            return not self._recorder.settled.is_set()
        if not self.run.open:
            return False
        if self.lab.store.owner_lives(self.id):
            return True
        self.lab.store.refresh_interrupted()
        return False

    def stop(self) -> None:
        if self.job is not None:
            self.job.stop()

    def wait(self, timeout: float | None = None) -> Training:
        """Wait until a run that was started here has ended and all of it is stored."""
        if self._recorder is not None:
            self._recorder.settled.wait(timeout)
        return self

    def measured(self, most: int | None = None) -> Measured:
        return self.lab.store.measured(self.id, most)

    def predictions(self) -> dict[str, Sealed]:
        return {sealed.prediction.name: sealed for sealed in self.lab.store.predictions(self.id)}

    def agreements(self) -> list[Agreement]:
        return self.lab.store.agreements(self.id)

    def tables(self) -> list[Table]:
        """What was measured and nobody judges, from what is stored; none before there is enough of it."""
        run = self.run
        exhibit = find(run.exhibit)(**run.sliders)
        sealed = {name: one.prediction for name, one in self.predictions().items()}
        return exhibit.tables(run.trial, self.measured(), sealed)


class Lab:
    """A store of runs and an engine that trains.

    Args:
        store: the store, or a path to its file, or None for the one in the user's data folder.
        engine: the engine; made from `workers` and `device` if not given.
        workers: trials that may run at once; cores minus one by default.
        device: "auto", "cpu", "cuda", "cuda:1" or "mps".
    """

    def __init__(
        self,
        store: Store | Path | str | None = None,
        engine: Engine | None = None,
        *,
        workers: int | None = None,
        device: str = "auto",
    ) -> None:
        self.store = store if isinstance(store, Store) else Store(Path(store) if store else None)
        self.engine = engine or Engine(workers=workers, device=device, preload=PRELOAD)
        self._live: dict[str, Training] = {}
        self._lock = threading.Lock()

    def train(
        self, exhibit: Exhibit, trial: str | None = None, size: str = "default", session: str = "python"
    ) -> Training:
        """Seal the prediction of the sliders as they stand, then start the trial in the background.

        Args:
            exhibit: its sliders give the prediction and the trial's arguments.
            trial: name of the trial; the exhibit's first by default.
            size: one of the trial's sizes; every trial has "quick" and "default".
            session: who asks; the queue is fair between sessions.

        Raises:
            BadInput: unknown trial or size.
            StoreError: the run cannot be stored; nothing is started then.
        """
        spec = exhibit.trial_spec(trial)
        if size not in spec.sizes:
            raise BadInput(f"{spec.name} has no size {size!r}. It has: {', '.join(spec.sizes)}.")
        arguments = getattr(exhibit, spec.method)(size)
        foreseen = [self._foresee(exhibit, spec.name, figure) for figure in spec.figures]
        run_id = self.store.create(
            exhibit=exhibit.slug,
            trial=spec.name,
            size=size,
            sliders=exhibit.values(),
            arguments=arguments,
            seeds=int(arguments.get("seeds", 1)),
            session=session,
        )
        recorder = Recorder(self, run_id)
        try:
            for prediction in foreseen:
                self.store.seal(run_id, prediction)
            job = self.engine.submit(
                exhibit.target(spec), arguments, sink=recorder, owner=session, job_id=run_id
            )
        except BaseException as error:
            with suppress(ExplorerError):
                self.store.finish(run_id, "failed", f"The run could not be started: {error}")
            raise
        training = Training(self, run_id, job, recorder)
        with self._lock:
            self._live = {key: one for key, one in self._live.items() if one.live}
            self._live[run_id] = training
        return training

    @staticmethod
    def _foresee(exhibit: Exhibit, trial: str, figure: str) -> Prediction:
        """What the sliders predict now on one figure of the trial; on its first, with the claims to be judged."""
        first = figure == exhibit.trial_spec(trial).figures[0]
        return Prediction(
            name=SLIDERS if first else f"{SLIDERS} {figure}",
            figure=figure,
            law=f"{exhibit.slug} {exhibit.version}",
            coefficients=_numbers(exhibit.values()),
            curves=[_stored(curve) for curve in exhibit.curves(figure) if isinstance(curve, Curve)],
            note="The sliders as they stood when the trial was started.",
            details={
                "claims": {
                    name: {"claim": spec.claim, "threshold": spec.threshold, "sense": spec.sense}
                    for name, spec in exhibit.agreements(trial).items()
                },
            }
            if first
            else {},
        )

    def training(self, run_id: str) -> Training:
        """The run called `run_id`, live if it runs here. Raises StoreError if there is none."""
        with self._lock:
            if run_id in self._live and self._live[run_id].live:
                return self._live[run_id]
        self.store.run(run_id)
        return Training(self, run_id)

    def compare(self, run_id: str) -> list[Agreement]:
        """Judge a run from what is stored, against the thresholds sealed before it, and store the verdicts."""
        run = self.store.run(run_id)
        exhibit = find(run.exhibit)(**run.sliders)
        sealed = {one.prediction.name: one.prediction for one in self.store.predictions(run_id)}
        claims = sealed[SLIDERS].details.get("claims", {}) if SLIDERS in sealed else {}
        measured = self.store.measured(run_id)
        verdicts = []
        for name, spec in exhibit.agreements(run.trial).items():
            if (
                name not in claims
            ):  # declared after this run: it was not claimed beforehand, so it is not judged
                continue
            verdict = exhibit.compare(replace(spec, **claims[name]), measured, sealed)
            self.store.record_agreement(run_id, verdict)
            verdicts.append(verdict)
        return verdicts

    def load(self, slug: str, **values: Any) -> Exhibit:
        """The exhibit called `slug`, with sliders set. Raises BadInput for an unknown name or value."""
        exhibit = find(slug)(**values)
        exhibit._lab = self
        return exhibit

    def close(self) -> None:
        """Stop what runs, leave no process behind, and close the store."""
        self.engine.close()
        self.store.close()


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    """The numbers among sliders' values; entries of a profile or a mixture are counted from 1."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, list):
            found |= {f"{name}_{place}": entry for place, entry in enumerate(value, 1)}
        elif isinstance(value, int | float):
            found[name] = float(value)
    return found


def _stored(curve: Curve) -> PredictedCurve:
    """The finite points of a curve; a break in the line is not something that can be compared with."""
    known = np.isfinite(curve.x) & np.isfinite(curve.y)
    return PredictedCurve(
        curve.key, curve.label, curve.x[known].tolist(), curve.y[known].tolist(), style=curve.style
    )


_shared: Lab | None = None
_shared_lock = threading.Lock()


def shared_lab() -> Lab:
    """The one lab of this Python process, opened when first asked for."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Lab()
            atexit.register(_shared.close)
        return _shared
