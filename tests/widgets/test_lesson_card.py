"""A lesson is read in steps, and Next sets what its step sets."""

import pytest

from explorer.errors import BadInput
from explorer.exhibits import discover, find
from explorer.exhibits.lesson import read_lesson
from explorer.lab import Lab
from widgets import ExhibitView, LessonCard

TEXT = """What it claims.

## Lower it
<!-- set E=1.5 N=7B trial=predict-bigger -->
Look at the floor.

## Published
<!-- set preset="Besiroglu, as printed" E=2 -->
Compare.
"""


def test_steps_and_what_they_set():
    intro, lower, published = read_lesson(TEXT)
    assert (intro.title, intro.text, intro.values) == ("", "What it claims.", {})
    assert (lower.title, lower.text, lower.trial) == ("Lower it", "Look at the floor.", "predict-bigger")
    assert lower.values == {"E": "1.5", "N": "7B"}
    assert (published.preset, published.values) == ("Besiroglu, as printed", {"E": "2"})
    assert read_lesson("") == []
    with pytest.raises(BadInput, match="NAME=VALUE"):
        read_lesson("## A\n<!-- set wrong -->\n")


def test_next_and_back_take_their_step():
    taken = []
    card = LessonCard(TEXT, taken.append)
    assert card.back.disabled
    card.next.clicks += 1
    assert [step.title for step in taken] == ["Lower it"]
    assert "### Lower it" in card._text.object
    card.go(2)
    assert card.next.disabled
    card.go(3)
    assert len(taken) == 2


@pytest.mark.parametrize("slug", [entry.slug for entry in discover() if entry.cls])
def test_every_step_of_every_lesson_can_be_taken(slug, tmp_path):
    lab = Lab(tmp_path / "runs.sqlite", device="cpu")
    try:
        view = ExhibitView(find(slug)(), lab)
        assert len(view.lesson.steps) > 1, "a teacher can step through it"
        forwards, backwards = {}, {}
        for index in range(len(view.lesson.steps)):
            view.lesson.go(index)
            forwards[index] = view.exhibit.values()
        for index in reversed(range(len(view.lesson.steps))):
            view.lesson.go(index)
            backwards[index] = view.exhibit.values()
        for index, step in enumerate(view.lesson.steps):
            if step.values:
                same = [
                    slider.same(forwards[index][name], backwards[index][name])
                    for name, slider in view.exhibit.sliders().items()
                    if slider.group != "training" or name in step.values
                ]
                assert all(same), f"step {step.title} sets the same from both sides"
        view.close()
    finally:
        lab.close()
