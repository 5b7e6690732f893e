"""The bar editor from Python: what it takes, what it refuses, how it answers the browser."""

import math

import numpy as np
import pytest

from explorer.errors import BadInput
from widgets.bar_editor import BarEditor


def say(editor, **words):
    """As the browser says it."""
    editor.said = {"who": "browser", "count": say.count, **words}
    say.count += 1
    return editor.face["answer"] == ["browser", say.count - 1]


say.count = 1


def test_a_change_is_told_to_python_once():
    editor, heard = BarEditor(value=(0.1, 0.2, 0.3)), []
    editor.param.watch(lambda event: heard.append(event.new), "value")
    assert say(editor, value=[0.1, 0.9, 0.3])
    assert heard == [(0.1, 0.9, 0.3)] and editor.value == (0.1, 0.9, 0.3)
    assert say(editor, value=[0.1, 0.9, 0.3]), "answered although nothing changed"
    assert len(heard) == 1


def test_python_shows_at_once():
    editor = BarEditor(value=(0.1, 0.2))
    editor.value = np.array([0.4, 0.5, 0.6])
    assert editor.value == (0.4, 0.5, 0.6)
    assert editor.face["value"] == [0.4, 0.5, 0.6] and editor.face["names"] == ["1", "2", "3"]
    editor.names = ("a", "b")
    assert editor.face["names"] == ["a", "b", "3"]
    model = editor.get_root()
    editor.value = (0.7, 0.8)
    assert model.data.face["value"] == [0.7, 0.8]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([0.1, 0.2], "2 numbers came for 3 bars"),
        ([0.1, 0.2, 7], "c = 7 is outside 0 to 1"),
        ([0.1, 0.2, -1e-3], "outside 0 to 1"),
        ([0.1, 0.2, math.nan], "Entry 3 is nan"),
        ([0.1, 0.2, math.inf], "Entry 3 is inf"),
        ([0.1, 0.2, "0.3"], "is not a list of numbers"),
        ([0.1, 0.2, True], "is not a list of numbers"),
        ([0.1, 0.2, None], "is not a list of numbers"),
        ([0.1, 0.2, [0.3]], "is not a list of numbers"),
        ({"0": 1}, "is not a list of numbers"),
        ("0.1, 0.2, 0.3", "is not a list of numbers"),
        (3, "is not a list of numbers"),
        (None, "is not a list of numbers"),
        ([0.5] * 100_000, "100000 numbers came for 3 bars"),
    ],
)
def test_what_the_browser_may_not_say(value, sentence):
    editor, heard = BarEditor(value=(0.1, 0.2, 0.3), names=("a", "b", "c")), []
    editor.param.watch(heard.append, "value")
    assert say(editor, value=value), "a refusal is an answer too"
    assert editor.value == (0.1, 0.2, 0.3) and not heard
    assert editor.face["value"] == [0.1, 0.2, 0.3]
    assert sentence in editor.face["error"] and len(editor.error) < 200
    say(editor, value=[0.2, 0.2, 0.2])
    assert editor.error == "" == editor.face["error"]


@pytest.mark.parametrize(
    "said", [None, 3, "x", [], {}, {"who": 1, "count": "x"}, {"value": {}, "who": "b" * 9999}]
)
def test_nonsense_is_survived(said):
    editor = BarEditor(value=(0.1, 0.2))
    editor.said = said
    assert editor.value == (0.1, 0.2)
    assert len(str(editor.face)) < 1000


def test_the_browser_changes_nothing_else():
    editor = BarEditor(value=(0.1, 0.2))
    props = {"face": {}, "high": 9, "value": (7, 7), "said": {"who": "b"}}
    assert editor._process_property_change(props) == {"said": {"who": "b"}}
    assert {"face", "said"} <= set(editor._linked_properties)
    assert not {"value", "low", "high", "names", "presets"} & set(editor._linked_properties)


def test_the_mean_switch_only_where_it_is_offered():
    editor = BarEditor(value=(0.1, 0.2))
    say(editor, value=[0.1, 0.2], hold_mean=True)
    assert editor.hold_mean is None
    editor = BarEditor(value=(0.1, 0.2), hold_mean=False)
    say(editor, value=[0.1, 0.2], hold_mean=True)
    assert editor.hold_mean is True and editor.face["hold_mean"] is True
    say(editor, value=[0.1, 0.2], hold_mean="yes")
    assert editor.hold_mean is False


def test_a_watcher_may_refuse():
    editor = BarEditor(value=(0.1, 0.2))

    def too_much(event):
        if sum(event.new) > 1:
            raise BadInput("Together they may not exceed 1.")

    editor.param.watch(too_much, "value")
    assert say(editor, value=[0.9, 0.9])
    assert editor.value == (0.1, 0.2) and editor.face["value"] == [0.1, 0.2]
    assert editor.face["error"] == "Together they may not exceed 1."


def test_a_watcher_may_correct():
    editor = BarEditor(value=(0.1, 0.2))
    editor.param.watch(lambda event: setattr(editor, "value", (event.new[0], 0.5)), "value")
    assert say(editor, value=[0.9, 0.9])
    assert editor.face["value"] == [0.9, 0.5]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"value": (0.1, 2)}, "2 = 2 is outside 0 to 1"),
        ({"value": ()}, "0 bars cannot be drawn"),
        ({"value": (0.1,) * 65}, "65 bars cannot be drawn"),
        ({"value": (0.1, math.nan)}, "Entry 2 is nan"),
        ({"value": "0.1"}, "is not a list of numbers"),
        ({"value": 0.1}, "is not a list of numbers"),
        ({"low": 1, "high": 1, "value": (1,)}, "leave no range"),
        ({"scale": "log"}, "starts above 0"),
        ({"step": 0.0}, "A step is above 0"),
        ({"presets": {"uniform": (0.1,)}}, "Preset 'uniform' has 1 entries for 2 bars"),
        ({"presets": {"loud": (0.1, 4)}}, "Preset 'loud': 2 = 4 is outside"),
    ],
)
def test_what_python_may_not_say(params, sentence):
    with pytest.raises(BadInput, match=sentence):
        BarEditor(**params)
    editor, heard = BarEditor(value=(0.5, 0.5)), []
    editor.param.watch(heard.append, "value")
    with pytest.raises(BadInput, match=sentence):
        editor.param.update(**params)
    assert editor.value == (0.5, 0.5) == tuple(editor.face["value"]) and not heard
    assert (editor.low, editor.high, editor.scale, editor.presets) == (0, 1, "linear", {})


def test_bounds_and_values_may_change_together():
    editor = BarEditor(value=(0.5, 0.5))
    editor.param.update(value=(5, 6, 7), high=10, presets={"five": (5, 5, 5)}, names=("a", "b", "c"))
    assert editor.face["high"] == 10 and editor.face["presets"] == {"five": [5, 5, 5]}


def test_its_script_travels_and_imports_nothing():
    assert "export function render" in BarEditor._esm and "export function moveEntry" in BarEditor._esm
    assert "import " not in BarEditor._esm.replace("No imports", "")
