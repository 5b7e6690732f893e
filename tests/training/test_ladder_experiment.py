"""The protocol: small models, then the sealed prediction, then, and only then, the bigger model."""

import json

import numpy as np
import pytest
import torch

from explorer.errors import BadInput
from explorer.exhibits.ladder.experiment import run
from explorer.exhibits.ladder.sizes import SIZES
from explorer.records import Point, Prediction, Progress, Series

TINY = {
    "widths": [16, 20, 24],
    "target": 64,
    "steps": 240,
    "seeds": 2,
    "corpus": "prose",
    "batch": 64,
    "first_budget": 5_000,
    "budgets": 7,
    "evaluated": 2_048,
    "resamples": 20,
}


@pytest.fixture(scope="module")
def records():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield list(run(**TINY))
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def prediction(records):
    (only,) = [record for record in records if isinstance(record, Prediction)]
    return only


def test_prediction_comes_after_the_small_models_and_before_the_target(records, prediction):
    role = {r.key: r.labels["role"] for r in records if isinstance(r, Series)}
    at = records.index(prediction)
    before = {role[r.series] for r in records[:at] if isinstance(r, Point)}
    after = {role[r.series] for r in records[at:] if isinstance(r, Point)}
    assert (before, after) == ({"fitted"}, {"held out"})


def test_every_curve_is_named_before_its_points(records):
    named: dict[str, Series] = {}
    points: dict[str, list[float]] = {}
    for record in records:
        if isinstance(record, Series):
            assert record.key not in named
            named[record.key] = record
        elif isinstance(record, Point):
            assert record.series in named
            points.setdefault(record.series, []).append(record.x)
    assert set(points) == set(named)
    assert len(named) == 4 * 2
    for key, series in named.items():
        labels = series.labels
        assert {"width", "seed", "N", "N_total", "role", "model", "scored_from"} <= set(labels)
        assert sum(x >= labels["scored_from"] for x in points[key]) == 7
        assert points[key] == sorted(points[key])
        assert points[key][0] < labels["scored_from"]


def test_prediction_says_all_that_the_comparison_needs(records, prediction):
    target = prediction.curve("target")
    scored = prediction.details["scored_budgets"]
    assert target.x == scored
    assert len(scored) == 7
    measured = {r.x for r in records if isinstance(r, Point) and r.series.startswith("h=64")}
    assert set(scored) <= measured
    assert (np.array(target.lower) <= np.array(target.upper)).all()
    assert set(prediction.coefficients) == {"A", "B", "E", "alpha", "beta"}
    assert {curve.key for curve in prediction.curves} == {"h=16", "h=20", "h=24", "target"}
    for baseline in prediction.details["baselines"].values():
        assert len(baseline["predicted"]) == 7
    assert prediction.details["compute_ratio"] > 4
    assert prediction.details["fitted_points"] == 3 * 2 * 7
    json.dumps(prediction.details, allow_nan=False)


def test_prediction_holds_where_it_was_fitted(records, prediction):
    """The law passes through the small models' own points: L falls with D along every fitted curve."""
    for curve in prediction.curves:
        assert np.all(np.diff(curve.y) <= 1e-12)
        assert np.isfinite(curve.y).all()


def test_progress_moves_forward(records):
    done = [record.done for record in records if isinstance(record, Progress)]
    assert done[0] == 0
    assert done[-1] == 1
    assert done == sorted(done)
    tokens = [record.tokens for record in records if isinstance(record, Progress)]
    assert tokens[-1] == 4 * 2 * 240 * 64


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"widths": [16, 32]}, "at least three"),
        ({"widths": [16, 64, 32]}, "do not increase"),
        ({"target": 24}, "not larger than the largest"),
        ({"target": 40}, r"times the compute .* Width \d+, or [\d,]+ steps for it, would be enough"),
        ({"seeds": 0}, "0 seeds"),
        ({"first_seed": -1}, "first seed"),
        ({"batch": 0}, "batch of 0"),
        ({"budgets": 6}, "too few to fit a law in D"),
        ({"first_budget": 0}, "first budget"),
        ({"resamples": 0}, "resamples"),
        ({"steps": 100}, "take at least 158 steps"),
        ({"target_steps": 10}, "too few for 7 budgets"),
        ({"first_budget": 2_000_000, "steps": 70_000}, "nothing is read twice"),
        ({"model": "rnn"}, "no model called"),
        ({"model": "decoder", "widths": [16, 20, 32], "corpus": "code"}, "multiple of 16"),
        ({"corpus": "/nowhere/at all"}, "no file or folder"),
        ({"tokenizer": "words"}, "no tokenizer"),
    ],
)
def test_nonsense_is_told_in_a_sentence(changes, sentence):
    with pytest.raises(BadInput, match=sentence):
        for record in run(**{**TINY, **changes}):
            assert not isinstance(record, Point)  # told before anything is trained


@pytest.mark.parametrize("size", SIZES)
def test_sizes_are_accepted(size):
    """Every size gets as far as its first named curve: the corpus suffices, the target is far enough."""
    stream = run(**SIZES[size])
    assert isinstance(next(stream), Progress)
    assert isinstance(next(stream), Series)
    stream.close()
