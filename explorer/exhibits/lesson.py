"""A lesson: an introduction and steps, each of which may set sliders and choose a trial.

    What the paper claims, and the formula.

    ## Lower the rate
    <!-- set p=0.01 activation=relu trial=propagation -->
    What to look for.

The comment is not shown. `preset="..."` takes over a published set before the other values. A step that sets
anything starts from the defaults of the law and the data.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from explorer.errors import BadInput

_SETTING = re.compile(r"^<!--\s*set\s+(.*?)\s*-->\s*$", re.MULTILINE)
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One step: what it says (Markdown), and what it sets."""

    title: str
    text: str
    values: dict[str, str] = field(default_factory=dict)
    trial: str | None = None
    preset: str | None = None


def read_lesson(text: str) -> list[Step]:
    """The steps of a lesson; what stands before the first heading is a step without a title.

    Raises:
        BadInput: a setting is not written NAME=VALUE.
    """
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads] + [len(text)]
    pieces = [("", text[: ends[0]])]
    pieces += [(head[1], text[head.end() : end]) for head, end in zip(heads, ends[1:], strict=True)]
    return [_step(title, body) for title, body in pieces if title or body.strip()]


def _step(title: str, body: str) -> Step:
    values: dict[str, str] = {}
    for setting in _SETTING.findall(body):
        for word in shlex.split(setting):
            name, equals, value = word.partition("=")
            if not equals:
                raise BadInput(f"The step {title!r} of a lesson sets {word!r}; write NAME=VALUE.")
            values[name] = value
    trial, preset = values.pop("trial", None), values.pop("preset", None)
    return Step(title, _SETTING.sub("", body).strip(), values, trial, preset)
