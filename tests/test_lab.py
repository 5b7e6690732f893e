"""Predict, train, compare end to end: a real store, a real worker, a real tiny training."""

import time
from dataclasses import replace

import pytest

from explorer.errors import BadInput, StoreError
from explorer.exhibits import find
from explorer.lab import SLIDERS, Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    opened = Lab(tmp_path_factory.mktemp("lab") / "runs.sqlite", device="cpu")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def finished(lab):
    """One quick ladder, really trained; two seeds to keep it short."""
    exhibit = lab.load("ladder", seeds=2)
    training = lab.train(exhibit, "predict-bigger", "quick", "test")
    assert training.live
    return training.wait(240)


def test_the_run_is_whole(finished):
    run = finished.run
    assert run.state == "finished", run.sentence
    assert run.device == "cpu"
    assert run.versions["torch"]
    assert run.seeds == 2
    measured = finished.measured()
    assert {s.labels["width"] for s, _, _ in measured} == {16, 32, 64, 160}
    for series, x, y in measured:
        late = x >= series.labels["scored_from"]
        assert late.sum() >= 7
        assert (y < 4.6).all(), "under ln 97, the loss of knowing nothing"


def test_the_prediction_was_sealed_before_the_bigger_model_was_measured(lab, finished):
    sealed = finished.predictions()
    assert list(sealed) == [SLIDERS, "bigger-model"]
    prediction = sealed["bigger-model"].prediction
    assert prediction.details["compute_ratio"] >= 4
    assert finished.run.created <= sealed[SLIDERS].sealed_at <= sealed["bigger-model"].sealed_at
    assert sealed["bigger-model"].sealed_at < finished.run.finished
    target = prediction.curve("target")
    assert all(low <= high for low, high in zip(target.lower, target.upper, strict=True))


def test_the_verdict_of_the_quick_ladder(finished):
    """Values of 0.008 to 0.016 were measured with several seeds; the claim is 0.03. Two seeds may be too few to say."""
    whole, most_compute = finished.agreements()
    for verdict in (whole, most_compute):
        assert verdict.threshold == 0.03
        assert verdict.value < 0.03
        assert verdict.verdict in ("agrees", "too noisy to say")
        assert verdict.seeds == 2
        assert len(verdict.baselines) == 2
    assert whole.points == 14
    assert most_compute.points < whole.points


def test_the_sealed_claim_counts_not_a_later_one(lab, finished, monkeypatch):
    cls = find("ladder")
    declared = cls.agreements()
    later = {
        "bigger-model": replace(declared["bigger-model"], threshold=9.0, claim="any", sense="above"),
        "afterthought": replace(declared["bigger-model"], name="afterthought"),
    }
    monkeypatch.setattr(cls, "agreements", classmethod(lambda c, trial=None: later))
    (verdict,) = lab.compare(finished.id)
    assert (verdict.name, verdict.threshold, verdict.sense) == ("bigger-model", 0.03, "below")
    assert "under 0.03" in verdict.claim


def test_a_trial_that_cannot_start_leaves_no_queued_run(lab, monkeypatch):
    before = len(lab.store.runs())
    exhibit = lab.load("ladder")
    monkeypatch.setattr(type(exhibit), "curves", lambda self, name: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lab.train(exhibit, size="quick")
    assert len(lab.store.runs()) == before, "nothing was stored"
    monkeypatch.undo()
    monkeypatch.setattr(lab.engine, "submit", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lab.train(exhibit, size="quick")
    assert lab.store.runs()[0].state == "failed"


def test_a_shorter_text_means_shorter_runs(lab):
    training = lab.train(lab.load("ladder", corpus="prose", seeds=1), size="default")
    until = time.monotonic() + 60
    while training.run.points == 0 and training.live and time.monotonic() < until:
        training.wait(0.05)
    training.stop()
    training.wait(10)
    assert training.run.state == "stopped", training.run.sentence
    refused = lab.train(lab.load("ladder", corpus="prose", seeds=1), size="decoder").wait(60).run
    assert refused.state == "failed"
    assert "Take a longer text, or a smaller size" in refused.sentence


def test_nothing_is_trained_twice_and_all_is_found_again(lab, finished):
    again = lab.training(finished.id)
    assert not again.live
    assert again.agreements() == lab.store.agreements(finished.id)
    assert len(again.measured()) == finished.run.points


def test_stop_keeps_the_points(lab):
    training = lab.train(lab.load("ladder", seeds=1), size="default", session="test")
    until = time.monotonic() + 60
    while training.run.points == 0 and time.monotonic() < until:
        training.wait(0.05)
    training.stop()
    training.wait(10)
    assert training.run.state == "stopped"
    assert training.run.points > 0
    assert training.agreements() == []


def test_a_corpus_that_is_not_there_starts_no_run(lab):
    before = len(lab.store.runs())
    with pytest.raises(BadInput, match="no file or folder /no/such/folder"):
        lab.train(lab.load("ladder", corpus="/no/such/folder"), size="quick")
    assert len(lab.store.runs()) == before


def test_an_unreadable_corpus_ends_the_run_in_a_sentence(lab, tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(bytes(range(256)) * 20)
    training = lab.train(lab.load("ladder", corpus=str(picture)), size="quick").wait(60)
    assert training.run.state == "failed"
    assert "picture.png" in training.run.sentence
    assert "Traceback" not in training.run.sentence


def test_unknown_size_and_run_are_told(lab):
    with pytest.raises(BadInput, match="It has: quick, default, decoder, large"):
        lab.train(lab.load("ladder"), size="huge")
    with pytest.raises((BadInput, StoreError), match="no run"):
        lab.training("nothing")
