"""What the app and a worker say to each other: one msgpack message at a time, never a pickle."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from explorer.errors import BadInput
from explorer.records import Point, Prediction, Progress, Series

Ending = Literal["finished", "failed", "diverged", "out of memory"]


class Work(msgspec.Struct, tag="work", frozen=True):
    """To the worker: call `target` ("package.module:function") with `arguments` on `device`."""

    target: str
    arguments: dict[str, Any]
    device: str


class AskDevices(msgspec.Struct, tag="ask devices", frozen=True):
    """To the worker: which devices are there?"""


class Stop(msgspec.Struct, tag="stop", frozen=True):
    """To the worker: end at the next yield."""


class SealedNow(msgspec.Struct, tag="sealed now", frozen=True):
    """To the worker: the prediction is stored, go on."""


class Started(msgspec.Struct, tag="started", frozen=True):
    """From the worker: the trial is about to begin, and where."""

    facts: dict[str, Any]


class Batch(msgspec.Struct, tag="batch", frozen=True):
    """From the worker: what was yielded since the last batch, in order, and the last progress."""

    records: list[Series | Point]
    progress: Progress | None = None


class Seal(msgspec.Struct, tag="seal", frozen=True):
    """From the worker: store this; it waits for `SealedNow`."""

    prediction: Prediction


class Devices(msgspec.Struct, tag="devices", frozen=True):
    """From the worker: the usable devices, the preferred one first."""

    names: list[str]


class Ended(msgspec.Struct, tag="ended", frozen=True):
    """From the worker, last: how it ended, in a sentence for people and a traceback for the log."""

    state: Ending | Literal["stopped"]
    sentence: str
    trace: str = ""


ToWorker = Work | AskDevices | Stop | SealedNow
FromWorker = Started | Batch | Seal | Devices | Ended


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy and torch as Python's own."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "detach") and hasattr(value, "tolist"):
        return value.detach().tolist()
    raise TypeError(
        f"{value!r} of type {type(value).__name__} cannot leave the worker; give numbers or lists"
    )


_encoder = msgspec.msgpack.Encoder(enc_hook=_plain)
_to_worker = msgspec.msgpack.Decoder(ToWorker)
_from_worker = msgspec.msgpack.Decoder(FromWorker)


Declared = TypeVar("Declared", Series, Progress, Prediction)
# What encoding and decoding raise for a value of the wrong type, too large, or not text.
_WRONG = (TypeError, ValueError, OverflowError)


def plain(record: Declared, kind: type[Declared]) -> Declared:
    """The record in Python's own types.

    Raises:
        BadInput: a field is not of the type it is declared with; the sentence names it.
    """
    try:
        return msgspec.msgpack.decode(_encoder.encode(record), type=kind)
    except _WRONG as error:
        for field in msgspec.structs.fields(kind):
            value = getattr(record, field.name)
            try:
                msgspec.msgpack.decode(_encoder.encode(value), type=field.type)
            except _WRONG as wrong:
                raise unfit(kind, field.name, value, str(wrong)) from error
        raise BadInput(
            f"The trial yielded a {kind.__name__} that cannot leave the worker: {error}."
        ) from error


def unfit(kind: type[msgspec.Struct], field: str, value: Any, why: str) -> BadInput:
    """What to raise for a field of a record that is not what it should be."""
    return BadInput(
        f"The trial yielded a {kind.__name__} whose {field} is {value!r:.80}: {why}. "
        "Correct this field in the trial."
    )


def encode(message: ToWorker | FromWorker) -> bytes:
    return _encoder.encode(message)


def for_worker(message: bytes) -> ToWorker:
    return _to_worker.decode(message)


def from_worker(message: bytes) -> FromWorker:
    return _from_worker.decode(message)
