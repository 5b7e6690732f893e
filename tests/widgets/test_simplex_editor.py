"""The simplex editor from Python: what it takes, what it refuses, how it answers the browser."""

import math

import pytest

from explorer.errors import BadInput
from widgets.simplex_editor import SimplexEditor

NAMES = ("web", "code", "books")


def say(editor, **words):
    """As the browser says it."""
    editor.said = {"who": "browser", "count": 7, "locked": [], **words}
    return editor.face["answer"] == ["browser", 7]


def test_a_change_is_told_to_python():
    editor, heard = SimplexEditor(value=(0.5, 0.3, 0.2), names=NAMES), []
    editor.param.watch(lambda event: heard.append(event.new), "value")
    assert say(editor, value=[0.25, 0.25, 0.5])
    assert heard == [(0.25, 0.25, 0.5)]


def test_weights_are_kept_as_they_are_when_they_sum_to_one():
    """Else the browser would be corrected for nothing, in the middle of a drag."""
    editor = SimplexEditor(value=(0.5, 0.3, 0.2))
    weights = [0.1, 0.2, 0.7000000000000001]
    say(editor, value=weights)
    assert editor.face["value"] == weights


def test_rounded_weights_from_python_are_divided_out():
    editor = SimplexEditor(value=(0.333, 0.333, 0.333))
    assert editor.value == (1 / 3, 1 / 3, 1 / 3)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([0.5, 0.5], "2 weights were given for 3 entries"),
        ([0.5, 0.5, 0.5], "sum to 1.5"),
        ([-0.5, 0.5, 1], "weight of web is -0.5"),
        ([math.nan, 0.5, 0.5], "Entry 1 is nan"),
        (["0.5", 0.5, 0], "is not a list of numbers"),
        ([True, 0, 0], "is not a list of numbers"),
        (None, "is not a list of numbers"),
    ],
)
def test_what_the_browser_may_not_say(value, sentence):
    editor, heard = SimplexEditor(value=(0.5, 0.3, 0.2), names=NAMES), []
    editor.param.watch(heard.append, "value")
    assert say(editor, value=value)
    assert editor.value == (0.5, 0.3, 0.2) and editor.face["value"] == [0.5, 0.3, 0.2] and not heard
    assert sentence in editor.face["error"]


@pytest.mark.parametrize("locked", ["web", [3], [-1], ["web"], [True], [0.0], None, {}])
def test_locks_the_browser_may_not_set(locked):
    editor = SimplexEditor(value=(0.5, 0.3, 0.2), names=NAMES, locked=["code"])
    assert say(editor, value=[0.4, 0.4, 0.2], locked=locked)
    assert editor.value == (0.5, 0.3, 0.2) and editor.locked == ["code"]
    assert "is not a list of entries to lock" in editor.error


def test_locks_by_name_and_by_index():
    editor = SimplexEditor(value=(0.5, 0.3, 0.2), names=NAMES, locked=["code", 2])
    assert editor.face["locked"] == [1, 2]
    say(editor, value=[0.5, 0.3, 0.2], locked=[2, 1])
    assert editor.locked == ["code", 2], "the same locks are left as they were given"
    say(editor, value=[0.5, 0.3, 0.2], locked=[0])
    assert editor.locked == ["web"]
    with pytest.raises(BadInput, match="no entry 'arxiv' to lock"):
        editor.locked = ["arxiv"]
    assert editor.locked == ["web"] and editor.face["locked"] == [0]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"value": (0.5, 0.6)}, "sum to 1.1"),
        ({"value": (1,)}, "2 to 8 weights, not 1"),
        ({"value": "0.5"}, "is not a list of numbers"),
        ({"names": ("a", "a")}, "Two entries have the same name"),
        ({"locked": [5]}, "no entry 5 to lock"),
        ({"marks": {"optimum": (0.1, 0.2)}}, "Mark 'optimum': The weights 0.1, 0.2 sum to 0.3"),
        ({"presets": {"natural": (0.1, 0.2, 0.7)}}, "Preset 'natural': 3 weights were given for 2"),
    ],
)
def test_what_python_may_not_say(params, sentence):
    with pytest.raises(BadInput, match=sentence):
        SimplexEditor(**params)
    editor = SimplexEditor(value=(0.5, 0.5))
    with pytest.raises(BadInput, match=sentence):
        editor.param.update(**params)
    assert editor.value == (0.5, 0.5) and editor.names == () and editor.presets == {} == editor.marks


def test_another_number_of_domains():
    editor = SimplexEditor(value=(0.5, 0.3, 0.2), names=NAMES, locked=["books"])
    editor.param.update(value=(0.5, 0.5), names=("web", "code"), locked=[])
    assert editor.face["names"] == ["web", "code"]
    model = editor.get_root()
    editor.value = (0.25, 0.75)
    assert model.data.face["value"] == [0.25, 0.75]


def test_its_script_travels_and_imports_nothing():
    assert (
        "export function render" in SimplexEditor._esm and "export function moveWeight" in SimplexEditor._esm
    )
    assert "import " not in SimplexEditor._esm.replace("No imports", "")
