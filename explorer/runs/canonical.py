"""One text for one value: the JSON that is stored and that a digest is taken over."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec
import numpy as np

from explorer.errors import BadInput

T = TypeVar("T")


def text(value: Any, what: str) -> str:
    """JSON with sorted keys and without spaces; numpy numbers and arrays become numbers and lists.

    NaN and infinities are written as NaN and Infinity, which Python reads back.

    Args:
        value: structs, dicts, lists, strings, numbers, None.
        what: names the value in the message.

    Raises:
        BadInput: the value holds something that JSON has no word for.
    """
    try:
        plain = msgspec.to_builtins(value, enc_hook=_plain, str_keys=True)
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise BadInput(
            f"Cannot store {what}: {error}. Numbers, texts, True, False, None, lists and dicts with "
            "text keys can be stored; convert the rest."
        ) from error


def value(stored: str, kind: type[T]) -> T:
    """Read back what `text` wrote, as `kind`."""
    return msgspec.convert(json.loads(stored), kind)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")
