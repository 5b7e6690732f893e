"""The contract of an exhibit: a paper, sliders, and the three verbs predict, train and compare.

    class DropoutUniversality(Exhibit):
        "Does front-loading dropout help at the same budget?"
        paper = Paper(...)
        p = Quantity(0.1, bounds=(0, 0.6), label="dropout rate")

        @figure("Correlation by depth", x=Axis("layer"), y=Axis("correlation"))
        def correlation(self): ...                       # predict: a list of Curve, arrays only

        @trial(figures=("correlation",), seconds={"quick": 5, "default": 30})
        def propagation(self, size): ...                 # train: JSON-able arguments for experiment.run

        @agreement(trial="propagation", claim="largest gap < 0.03", threshold=0.03)
        def gap(self, measured, sealed): ...             # compare: a Comparison

Nothing here draws, stores or starts a process.
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import param

from explorer.agreement import Agreement, judge, seeds_to_decide
from explorer.errors import BadInput
from explorer.exhibits.entries import Entries
from explorer.exhibits.figures import Axis, Curve, Readout, Surface, Table
from explorer.exhibits.quantity import Choice, Quantity
from explorer.records import Measured, Prediction

Method = TypeVar("Method", bound=Callable[..., Any])
Spec = TypeVar("Spec", "FigureSpec", "TrialSpec", "AgreementSpec")
Slider = Quantity | Choice | Entries


@dataclass(frozen=True)
class Paper:
    """Where the claim comes from."""

    title: str
    authors: str
    venue: str
    arxiv: str = ""

    @property
    def citation(self) -> str:
        return f"{self.authors}, {self.title}, {self.venue}" + (f", arXiv {self.arxiv}" if self.arxiv else "")


@dataclass(frozen=True)
class FigureSpec:
    """A figure of an exhibit: its method returns the curves for the sliders as they stand.

    A `live` figure holds measured points and what was sealed, and nothing before a run; a `plain` one has no axes and
    one scale in both directions; one with a `z` axis has at most one Surface, coloured along it. `needs` names the
    sliders it depends on; all if None.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    caption: str = ""
    empty: str = "There is nothing to draw for these values."
    shown: bool = True
    needs: frozenset[str] | None = None
    live: bool = False
    plain: bool = False
    z: Axis | None = None


@dataclass(frozen=True)
class TrialSpec:
    """A live experiment: `seconds` estimates each size, in order, on two CPU cores; `experiment` names the function.

    Every trial has the sizes "quick" and "default". Its points are drawn on `figures`, the main one first.
    """

    name: str
    method: str
    figures: tuple[str, ...]
    seconds: Mapping[str, float]
    title: str
    experiment: str = "run"

    @property
    def sizes(self) -> tuple[str, ...]:
        return tuple(self.seconds)


@dataclass(frozen=True)
class AgreementSpec:
    """A comparison and the threshold that was fixed before any run."""

    name: str
    method: str
    trial: str
    claim: str
    threshold: float
    sense: Literal["below", "above"] = "below"


@dataclass(frozen=True)
class Comparison:
    """What a comparison found; the claim and threshold come from the declaration, not from here."""

    value: float
    interval: tuple[float, float] | None
    seeds: int
    points: int
    scope: str = ""
    baselines: Mapping[str, float] | None = None
    coverage: float = 0.9


def figure(
    title: str,
    *,
    x: Axis,
    y: Axis,
    caption: str = "",
    empty: str = FigureSpec.empty,
    shown: bool = True,
    needs: Iterable[str] | None = None,
    live: bool = False,
    plain: bool = False,
    z: Axis | None = None,
) -> Callable[[Method], Method]:
    """Declare a figure; see `FigureSpec`. `empty` says why it is blank; one that is not `shown` waits to be chosen."""

    def mark(method: Method) -> Method:
        wanted = frozenset(needs) if needs is not None else None
        method.spec = FigureSpec(  # type: ignore[attr-defined]
            method.__name__, title, x, y, caption, empty, shown, wanted, live, plain, z
        )
        return method

    return mark


def trial(
    *, figures: Sequence[str], seconds: Mapping[str, float], title: str = "", experiment: str = "run"
) -> Callable[[Method], Method]:
    """Declare a live experiment. The method takes a size and returns the experiment's JSON-able arguments."""

    def mark(method: Method) -> Method:
        name = method.__name__.replace("_", "-")
        words = title or inspect.getdoc(method) or name
        method.spec = TrialSpec(  # type: ignore[attr-defined]
            name, method.__name__, tuple(figures), seconds, words.splitlines()[0], experiment
        )
        return method

    return mark


def agreement(
    *, trial: str, claim: str, threshold: float, sense: Literal["below", "above"] = "below"
) -> Callable[[Method], Method]:
    """Declare a comparison of a trial's stored points with what was sealed before they were measured."""

    def mark(method: Method) -> Method:
        name = method.__name__.replace("_", "-")
        method.spec = AgreementSpec(name, method.__name__, trial, claim, threshold, sense)  # type: ignore[attr-defined]
        return method

    return mark


class Exhibit(param.Parameterized):
    """Base of all exhibits. The first line of a subclass's docstring is its question."""

    paper: ClassVar[Paper]
    slug: ClassVar[str] = ""
    rank: ClassVar[int] = 100
    version: ClassVar[str] = "1"
    presets: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(self, **values: Any) -> None:
        super().__init__()
        self._moving = False
        self._lab: Any = None  # whoever loads the exhibit for training puts its lab here
        self.param.watch(self._follow, list(self.sliders()))
        if values:
            self.restore(values)

    # -- what is declared ---------------------------------------------------------------------------------

    @classmethod
    def question(cls) -> str:
        """The first line of the class's own docstring; empty without one."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]

    @classmethod
    def sliders(cls) -> dict[str, Slider]:
        """Everything a person may move, by name, in the order of declaration."""
        found = {name: p for name, p in cls.param.objects("existing").items() if isinstance(p, Slider)}
        order = [name for base in reversed(cls.__mro__) for name in vars(base) if name in found]
        return {name: found[name] for name in dict.fromkeys(order)}

    @classmethod
    def _specs(cls, kind: type[Spec]) -> dict[str, Spec]:
        members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
        specs = (getattr(member, "spec", None) for member in members.values())
        return {spec.name: spec for spec in specs if isinstance(spec, kind)}

    @classmethod
    def figures(cls) -> dict[str, FigureSpec]:
        return cls._specs(FigureSpec)

    @classmethod
    def trials(cls) -> dict[str, TrialSpec]:
        return cls._specs(TrialSpec)

    @classmethod
    def agreements(cls, trial: str | None = None) -> dict[str, AgreementSpec]:
        found = cls._specs(AgreementSpec)
        return {name: spec for name, spec in found.items() if trial in (None, spec.trial)}

    @classmethod
    def trial_spec(cls, name: str | None = None) -> TrialSpec:
        """The trial called `name`, or the first one. Raises BadInput for an unknown name."""
        trials = cls.trials()
        if not trials:
            raise BadInput(f"The exhibit {cls.slug} has no live experiment.")
        if name is None:
            return next(iter(trials.values()))
        if name not in trials:
            raise BadInput(f"{cls.slug} has no trial {name!r}. It has: {', '.join(trials)}.")
        return trials[name]

    @classmethod
    def target(cls, spec: TrialSpec) -> str:
        """Where the worker finds the experiment: "package.experiment:function"."""
        package = cls.__module__.rpartition(".")[0]
        return f"{package}.experiment:{spec.experiment}"

    @classmethod
    def lesson(cls) -> str:
        """The lesson as Markdown, from lesson.md beside the class; empty if there is none."""
        source = getattr(sys.modules.get(cls.__module__), "__file__", None)
        path = Path(source).with_name("lesson.md") if source else None
        return path.read_text(encoding="utf-8") if path and path.exists() else ""

    # -- predict --------------------------------------------------------------------------------------------

    def curves(self, name: str) -> list[Curve | Surface]:
        """The curves of one figure for the sliders as they stand."""
        return list(getattr(self, name)())

    def predict(self) -> dict[str, list[Curve | Surface]]:
        """The curves of every figure."""
        return {name: self.curves(name) for name in self.figures()}

    def readouts(self) -> list[Readout]:
        """The numbers beside the figures."""
        return []

    def settle(self, changed: set[str]) -> dict[str, Any]:
        """Which other sliders must follow after those in `changed` moved, and to where."""
        return {}

    def entry_names(self, name: str) -> tuple[str, ...]:
        """What the entries of a profile or a mixture are called."""
        return tuple(str(place) for place in range(1, len(getattr(self, name)) + 1))

    def entry_presets(self, name: str) -> dict[str, tuple[float, ...]]:
        """Entries that a person may take over whole, by name."""
        return {}

    # -- train ------------------------------------------------------------------------------------------------

    def train(self, trial: str | None = None, size: str = "default") -> Any:
        """Seal what the sliders predict and start a trial in the background; see `explorer.lab.Lab.train`.

        Raises:
            BadInput: this exhibit was not loaded from a lab, or trial or size are unknown.
        """
        if self._lab is None:
            raise BadInput(f"To train, get the exhibit by explorer.load({self.slug!r}).")
        return self._lab.train(self, trial, size)

    # -- compare --------------------------------------------------------------------------------------------

    def compare(self, spec: AgreementSpec, measured: Measured, sealed: Mapping[str, Prediction]) -> Agreement:
        """The verdict of one comparison on stored points, against its declared threshold."""
        found: Comparison = getattr(self, spec.method)(measured, sealed)
        verdict = judge(found.value, spec.threshold, found.interval, spec.sense)
        return Agreement(
            name=spec.name,
            claim=spec.claim,
            value=float(found.value),
            threshold=spec.threshold,
            interval=None if found.interval is None else (float(found.interval[0]), float(found.interval[1])),
            verdict=verdict,
            seeds=int(found.seeds),
            points=int(found.points),
            scope=found.scope,
            baselines={name: float(value) for name, value in (found.baselines or {}).items()},
            coverage=found.coverage,
            sense=spec.sense,
            seeds_needed=seeds_to_decide(
                found.value, spec.threshold, found.interval, found.seeds, found.coverage
            )
            if verdict == "too noisy to say"
            else None,
        )

    def tables(self, trial: str, measured: Measured, sealed: Mapping[str, Prediction]) -> list[Table]:
        """What a run of `trial` measured and nobody judges; of a stopped run, from the points there are."""
        return []

    # -- values in and out ------------------------------------------------------------------------------------

    def values(self) -> dict[str, Any]:
        """Every slider's value, JSON-able."""
        found = {name: getattr(self, name) for name in self.sliders()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def changed_values(self) -> dict[str, Any]:
        """Only the values that differ from their defaults, JSON-able."""
        return {
            name: value
            for name, value in self.values().items()
            if not self.sliders()[name].same(value, self.param[name].default)
        }

    def move(self, **values: Any) -> None:
        """Set sliders, let the others follow, and tell watchers once."""
        self._moving = True
        try:
            with param.parameterized.batch_call_watchers(self):
                self.param.update(**values)
                self.param.update(**self.settle(set(values)))
        finally:
            self._moving = False

    def _follow(self, *events: Any) -> None:
        if self._moving:
            return
        self._moving = True
        try:
            self.param.update(**self.settle({event.name for event in events}))
        finally:
            self._moving = False

    def restore(self, values: Mapping[str, Any], trusted: bool = True) -> None:
        """Set several sliders at once from numbers or from text, as a link, a preset or the command line does.

        Args:
            values: by slider name; text is read as people write numbers (70B, 1.4T, 2e20; "0.2, 0.3, 0.5").
            trusted: False for values that come from a page, which may only choose what the page offers.

        Raises:
            BadInput: unknown name, not a number, out of bounds, not one of the choices, or values that cannot stand
                beside each other. Nothing is set then.
        """
        read = {name: self._read(name, value, trusted) for name, value in values.items()}
        before = {name: getattr(self, name) for name in self.sliders()}
        self.move(**read)
        for name, value in read.items():
            stands, slider = getattr(self, name), self.sliders()[name]
            if not slider.same(stands, value):
                self.move(**before)
                raise BadInput(
                    f"{name} = {slider.write(value)} cannot be had with the other values: it would have to be "
                    f"{slider.write(stands)}. Leave out {name}, or one that it hangs on."
                )

    def _read(self, name: str, value: Any, trusted: bool) -> Any:
        sliders = self.sliders()
        if name not in sliders:
            near = difflib.get_close_matches(name, sliders, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"{self.slug} has no slider {name!r}.{hint} It has: {', '.join(sliders)}.")
        return sliders[name].read(value, trusted)
