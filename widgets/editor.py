"""What the bar editor and the simplex editor share: one conversation with the browser, whose word is checked."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar

import param
from panel.custom import JSComponent
from panel.widgets.base import WidgetBase

from explorer.errors import BadInput
from widgets.latency import answer_at_once
from widgets.number_text import WRITE_NUMBER_JS

HERE = Path(__file__).parent
EXAMPLE = "Write it like (0.2, 0.3, 0.5)."


def script(name: str) -> str:
    """The JavaScript module of an editor, with what the editors share before it; it imports nothing."""
    parts = [WRITE_NUMBER_JS, *((HERE / part).read_text(encoding="utf-8") for part in ("editor.js", name))]
    return "\n".join(parts)


def numbers(values: Iterable[Any]) -> tuple[float, ...]:
    """Finite floats. Raises BadInput if one of them is none."""
    try:
        if isinstance(values, str | bytes | Mapping):
            raise TypeError
        given = list(values)
        if any(isinstance(value, str | bytes | bool) for value in given):
            raise TypeError
        read = tuple(float(value) for value in given)
    except (TypeError, ValueError):
        raise BadInput(f"{reprlib.repr(values)} is not a list of numbers. {EXAMPLE}") from None
    for index, value in enumerate(read):
        if not math.isfinite(value):
            raise BadInput(f"Entry {index + 1} is {value}; give a finite number.")
    return read


class Vector(param.Parameter):
    """Finite numbers, kept as a tuple of floats."""

    def __set__(self, obj: Any, val: Any) -> None:
        if isinstance(val, Iterable):  # a reference, say another parameter, is resolved by param first
            val = numbers(val)
        super().__set__(obj, val)

    def _validate(self, val: Any) -> None:
        if not isinstance(val, tuple):
            raise BadInput(f"{reprlib.repr(val)} is not a list of numbers. {EXAMPLE}")


class Editor(WidgetBase, JSComponent):
    """A control for several numbers; `BarEditor` and `SimplexEditor` are the ones to use.

    The browser says what a person did in `said` and shows what stands in `face`, nothing else is exchanged. Every
    word of the browser is answered, also one that is refused, and it says the next one only then: so nothing
    queues however slow Python is, and both sides end with the same numbers.
    """

    value: Any
    names: Any = param.Parameter(default=(), doc="What the entries are called; 1, 2, ... where not given.")
    presets: Any = param.Parameter(default={}, doc="Buttons: name to values.")
    error = param.String(
        default="", doc="One sentence under the control; the next change of value clears it."
    )
    face = param.Parameter(default={}, doc="What the browser shows. Set by the editor itself.")
    said = param.Parameter(default=None, doc="What the browser says. Read by the editor itself.")

    _rename: ClassVar[Mapping[str, str | None]] = {
        "value": None,
        "label": None,
        "names": None,
        "presets": None,
        "error": None,
    }
    # What `face` is made of.
    _drawn: ClassVar[tuple[str, ...]] = ("value", "label", "names", "presets", "error")

    __abstract = True

    def __init__(self, **params: Any) -> None:
        if "width" not in params:
            params.setdefault("sizing_mode", "stretch_width")
        super().__init__(**params)
        self._answer: list[Any] = ["", 0]
        self._quiet = False
        self._showing = RLock()  # another thread may set a value while the browser is answered
        self._check()
        answer_at_once(self)
        self._busy__ignore = ["said"]
        self.param.watch(self._changed, list(self._drawn))
        self.param.watch(self._heard, "said")
        self._show()

    def entry_names(self) -> tuple[str, ...]:
        """A name for each entry."""
        return tuple(self._name(index) for index in range(len(self.value)))

    def _name(self, index: int) -> str:
        return str(self.names[index] if index < len(self.names) else index + 1)

    @property
    def _synced_params(self) -> list[str]:
        # Panel looks at its theme anew for every change it may have to send: only `face` is ever sent.
        return [name for name in super()._synced_params if name not in (*self._drawn, "said")]

    def _update_properties(self, *events: Any, doc: Any) -> dict[str, Any]:
        if all(event.name == "face" for event in events):
            return {"face": self.face}
        return super()._update_properties(*events, doc=doc)

    def _update_model(self, events: Any, msg: dict[str, Any], *where: Any) -> None:
        if "face" in msg:  # a change from another thread comes late, when what it was to show may have passed
            msg = {**msg, "face": self.face}
        super()._update_model(events, msg, *where)

    def _process_property_change(self, props: dict[str, Any]) -> dict[str, Any]:
        # Nothing else is the browser's to change.
        return {name: value for name, value in props.items() if name == "said"}

    def _check(self) -> None:
        """Raise BadInput if the parameters do not go together."""
        raise NotImplementedError

    def _read(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that the browser asks for. Raises BadInput if they cannot be used."""
        raise NotImplementedError

    def _face(self) -> dict[str, Any]:
        """What the browser shows, as plain JSON."""
        return {
            "value": list(self.value),
            "names": list(self.entry_names()),
            "label": self.label,
            "presets": {str(name): [float(number) for number in row] for name, row in self.presets.items()},
            "error": self.error,
        }

    def _show(self) -> None:
        if not self._quiet:
            with self._showing:
                self.face = {**self._face(), "answer": self._answer}

    def _changed(self, *events: Any) -> None:
        try:
            self._check()
        except BadInput:
            with param.parameterized.discard_events(self):
                self.param.update({event.name: event.old for event in events})
            raise
        names = {event.name for event in events}
        if "value" in names and "error" not in names and not self._quiet:
            with param.parameterized.discard_events(self):
                self.error = ""
        self._show()

    def _heard(self, event: Any) -> None:
        """Take over what the browser says; whatever it is, answer with what stands then."""
        said = event.new
        if not isinstance(said, Mapping):
            return
        before = self.value
        self._quiet = True
        try:
            self.error = ""
            self.param.update(self._read(said))
        except BadInput as error:
            with param.parameterized.discard_events(self):
                self.value = before
            self.error = str(error)
        finally:
            self._quiet = False
            who, count = said.get("who"), said.get("count")
            if isinstance(who, str) and isinstance(count, int):
                self._answer = [who[:40], count]
            self._show()
