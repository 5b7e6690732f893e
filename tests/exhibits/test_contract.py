"""The contract: what is declared is found, values are checked, followers follow, watchers hear once."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.exhibits import (
    Axis,
    Choice,
    Comparison,
    Count,
    Curve,
    Exhibit,
    Paper,
    Quantity,
    agreement,
    figure,
    trial,
)
from explorer.records import Measured


class Line(Exhibit):
    """Is a line straight?

    More words.
    """

    slug = "line"
    paper = Paper(title="Lines", authors="Euclid", venue="Elements")
    slope = Quantity(1.0, bounds=(0, 10), label="slope")
    twice = Quantity(2.0, bounds=(0, 20), label="twice the slope")
    seeds = Count(2, bounds=(1, 4), label="seeds")
    kind = Choice(["dots", "dashes"], label="kind", open_to_python=True)

    def settle(self, changed):
        return {"twice": 2 * self.slope} if "slope" in changed else {}

    @figure("Line", x=Axis("x"), y=Axis("y"))
    def line(self):
        x = np.arange(3.0)
        return [Curve("line", "line", x, self.slope * x)]

    @trial(figures=("line",), seconds={"quick": 1})
    def draw_it(self, size):
        """Draw it."""
        return {"size": size}

    @agreement(trial="draw-it", claim="gap < 0.1", threshold=0.1)
    def gap(self, measured, sealed):
        return Comparison(0.05, (0.04, 0.2), seeds=2, points=3)


def test_declarations_are_found():
    assert Line.question() == "Is a line straight?"
    assert list(Line.sliders()) == ["slope", "twice", "seeds", "kind"]
    assert list(Line.figures()) == ["line"]
    assert Line.trial_spec().title == "Draw it."
    assert Line.trial_spec().sizes == ("quick",)
    assert list(Line.agreements("draw-it")) == ["gap"]
    assert Line.paper.citation == "Euclid, Lines, Elements"


def test_a_move_reaches_watchers_once_with_followers_in_place():
    line, heard = Line(), []
    line.param.watch(lambda *events: heard.append({e.name: e.new for e in events}), ["slope", "twice"])
    line.move(slope=3.0)
    assert heard == [{"slope": 3.0, "twice": 6.0}]


def test_plain_assignment_lets_others_follow_too():
    line = Line()
    line.slope = 4.0
    assert line.twice == 8.0


def test_restoring_reads_text_and_sets_all_or_nothing():
    line = Line(slope="2", kind="dashes")
    assert (line.slope, line.kind) == (2.0, "dashes")
    with pytest.raises(BadInput):
        line.restore({"slope": "3", "seeds": "99"})
    assert line.slope == 2.0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"slop": "1"},
            "line has no slider 'slop'. Did you mean 'slope'? It has: slope, twice, seeds, kind.",
        ),
        ({"slope": "11"}, "slope = 11 is outside 0 to 10. Choose a value inside."),
        ({"slope": "x"}, "slope: 'x' is not a number. Write it like 0.35, 70e9, 125M or 1.4T."),
        ({"slope": float("nan")}, "slope: 'nan' is not a number. Write it like 0.35, 70e9, 125M or 1.4T."),
        ({"slope": True}, "slope = True is not a number."),
        ({"slope": None}, "slope = None is not a number."),
        ({"seeds": "1.5"}, "seeds = 1.5 is not a whole number."),
    ],
)
def test_bad_values_are_told_in_one_sentence(values, said):
    with pytest.raises(BadInput) as told:
        Line().restore(values)
    assert str(told.value) == said


def test_only_trusted_values_may_leave_the_offered_choices():
    line = Line()
    line.restore({"kind": "/some/path"})
    assert line.kind == "/some/path"
    with pytest.raises(BadInput, match="is not offered"):
        line.restore({"kind": "/other"}, trusted=False)


def test_the_verdict_takes_claim_and_threshold_from_the_declaration():
    line = Line()
    verdict = line.compare(Line.agreements()["gap"], Measured({}), {})
    assert (verdict.claim, verdict.threshold, verdict.verdict) == ("gap < 0.1", 0.1, "too noisy to say")


def test_unknown_trial_is_told():
    with pytest.raises(BadInput, match="It has: draw-it"):
        Line.trial_spec("paint")
