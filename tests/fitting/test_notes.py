"""Notes on a fit: each condition has its name and severity, and a sound fit has none."""

import copy
import json

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.fitting.budgets import budget_groups, compute
from explorer.fitting.identify import identify
from explorer.fitting.notes import Note, notes_at
from explorer.laws import law

TINY = {"E": 1.2, "A": 30.0, "B": 400.0, "alpha": 0.35, "beta": 0.4}


def grid(N, D, times=1):
    N, D = (np.tile(one.ravel(), times) for one in np.meshgrid(N, D, indexing="ij"))
    return {"N": N, "D": D}


LADDER = grid(np.geomspace(1e4, 1e6, 6), np.geomspace(1e6, 1e8, 10))


def measured(variables, bend=0.0, sd=0.01, seed=0, **other):
    """The law's losses with noise, and with a bend along D that no Chinchilla law has."""
    noise = sd * np.random.default_rng(seed).normal(size=len(variables["N"]))
    bent = bend * np.sin(3 * np.log(variables["D"]))
    return law("chinchilla").predict(variables, **{**TINY, **other}) * np.exp(noise + bent)


def notes(variables, loss=None, **options):
    found = fit(law("chinchilla"), variables, measured(variables) if loss is None else loss, **options)
    return {note.name: note for note in found.notes}


def test_a_sound_fit_has_no_notes():
    assert notes(LADDER) == {}


def test_right_laws_are_rarely_accused():
    names = [list(notes(LADDER, measured(LADDER, seed=seed))) for seed in range(25)]
    assert sum(map(bool, names)) <= 2


def test_too_few_levels():
    two = notes(grid([1e5, 2e5], np.geomspace(1e6, 1e8, 10)))["levels"]
    assert (two.severity, two) == (
        "caution",
        "N takes only 2 values: too few to tell its power law from a constant.",
    )
    assert notes(grid([1e5], np.geomspace(1e6, 1e8, 10)))["levels"].severity == "serious"


def test_a_coefficient_at_its_bound():
    note = notes(LADDER, bounds={"alpha": (0.01, 0.2)})["bound"]
    assert note.severity == "serious"
    assert note.startswith("alpha lies at its upper bound 0.2")


def test_as_many_points_as_coefficients():
    few = {name: column[[0, 9, 25, 50, 59]] for name, column in LADDER.items()}
    assert notes(few)["saturated"].severity == "serious"


def test_coefficients_that_are_open_or_loose():
    two = notes(grid([1e5, 2e5], np.geomspace(1e6, 1e8, 10)))["unidentified"]
    assert two.severity == "serious"
    assert all(name in two for name in ("E", "A", "alpha"))
    narrow = notes(grid(np.geomspace(1e4, 1e6, 6), np.geomspace(3e7, 6e7, 10)))["loose"]
    assert narrow.severity == "caution"
    assert "B only within a factor of" in narrow
    assert "beta only to ±" in narrow


def test_a_law_that_bends_otherwise_is_told_by_its_residuals():
    note = notes(LADDER, measured(LADDER, bend=0.04))["lack-of-fit"]
    assert note.severity == "caution"
    assert "come in long rows" in note


def test_a_law_that_bends_otherwise_is_told_by_repeated_points():
    repeated = grid(np.geomspace(1e4, 1e6, 4), np.geomspace(1e6, 1e8, 5), times=3)
    assert "lack-of-fit" not in notes(repeated)
    note = notes(repeated, measured(repeated, bend=0.02))["lack-of-fit"]
    assert "Points measured more than once scatter by" in note


def test_a_law_that_misses_altogether():
    random = np.random.default_rng(0)
    assert notes(LADDER, np.exp(random.normal(1, 0.4, 60)))["misfit"].severity == "serious"


def test_an_optimum_that_nobody_tried():
    over_trained = grid(np.geomspace(1e4, 1e6, 6), np.geomspace(1e9, 1e11, 10))
    note = notes(over_trained)["optimum-outside"]
    assert note.severity == "caution"
    assert "the best N is larger than every N that was tried" in note


def test_how_far_a_prediction_is_from_the_fit():
    found = fit(law("chinchilla"), LADDER, measured(LADDER))
    assert notes_at(found, {"N": 1e5, "D": [1e7, 1e8]}) == ()
    for N, severity in ((3e6, "info"), (3e7, "caution"), (3e8, "serious"), (30.0, "serious")):
        (note,) = notes_at(found, {"N": N, "D": 1e7})
        assert (note.name, note.severity) == ("extrapolation", severity)
    assert "N is 30 times the largest" in notes_at(found, {"N": 3e7, "D": 1e7})[0]
    with pytest.raises(BadInput, match="missing D"):
        notes_at(found, {"N": 1e5})


def test_serious_notes_come_first_and_stand_in_the_json():
    found = fit(
        law("chinchilla"),
        grid([1e5, 2e5], np.geomspace(1e6, 1e8, 10)),
        measured(grid([1e5, 2e5], np.geomspace(1e6, 1e8, 10))),
    )
    told = json.loads(json.dumps(found.to_json()))["notes"]
    assert [note["severity"] for note in told] == ["serious", "caution"]
    assert set(told[0]) == {"name", "severity", "sentence"}


def test_a_note_is_its_sentence():
    note = Note("bound", "serious", "A sentence.")
    assert note == "A sentence." == f"{note}" == note.sentence
    same = copy.deepcopy(note)
    assert (same.name, same.severity, same) == ("bound", "serious", "A sentence.")


def test_budgets_are_told_apart():
    assert budget_groups([1e18, 1.02e18, 1e19, 9.9e18, 1e20]).tolist() == [0, 0, 1, 1, 2]
    many = budget_groups(np.geomspace(1e18, 1e21, 400))
    assert np.bincount(many).tolist() == [50] * 8
    assert (np.diff(many) >= 0).all()
    assert compute({"N": 2.0, "D": 3.0}) == 36
    assert compute({"C": 5.0, "M": 1.0}) == 5
    with pytest.raises(BadInput, match="give C, or N and D"):
        compute({"M": [1.0]})


def test_what_to_measure_next():
    narrow = grid(np.geomspace(1e4, 1e6, 6), np.geomspace(3e7, 6e7, 10))
    found = identify(fit(law("chinchilla"), narrow, measured(narrow)))
    assert ("A", "alpha") in found.tied
    assert abs(found.correlations["B", "beta"]) > 0.99
    assert found.errors["beta"] > 10 * found.errors["alpha"]
    assert abs(found.flattest["beta"]) == pytest.approx(found.errors["beta"], rel=0.2)
    assert found.sentences[0].startswith("What shows least in the fit is beta +")
    below, above = found.advice
    assert below.place["D"] == pytest.approx(3e6)
    assert "1/10 of the smallest so far" in below.sentence
    assert "It helps only if the law still holds there" in below.sentence
    assert above.place["D"] == pytest.approx(6e8)
    assert above.cost == pytest.approx(10)
    assert "D = 6e+08, 10 times the largest so far" in above.sentence
    # The advice keeps what it promises.
    more = {name: np.append(column, [above.place[name]] * above.repeats) for name, column in narrow.items()}
    after = identify(fit(law("chinchilla"), more, measured(more)))
    assert after.errors["beta"] < 3 * above.shrinks["beta"] * found.errors["beta"]
    json.dumps(found.to_json())


def test_what_is_not_fixed_at_all():
    two = grid([1e5, 2e5], np.geomspace(1e6, 1e8, 10))
    found = identify(fit(law("chinchilla"), two, measured(two)))
    assert (
        found.sentences[0]
        == "These points do not fix E, A and alpha separately: other combinations fit as well."
    )
    assert np.isinf(found.errors["alpha"])
    assert np.isfinite(found.errors["beta"])
    assert "N" in found.advice[0].sentence
    assert json.loads(json.dumps(found.to_json()))["errors"]["alpha"] is None
