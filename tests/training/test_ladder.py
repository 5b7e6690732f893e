"""The ladder really trains: curves fall, repeat exactly, and do not depend on who is trained beside whom."""

import time

import numpy as np
import pytest
import torch

from explorer.errors import BadInput, Diverged
from explorer.training.corpus import load_corpus
from explorer.training.ladder import (
    Evaluation,
    Tick,
    count_parameters,
    log_spaced_steps,
    require_single_pass,
    tokens_a_step,
    train_ladder,
)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def prose():
    return load_corpus("prose")


def evaluations(corpus, **changes):
    settings = {
        "model": "residual-mlp",
        "widths": [16, 32],
        "seeds": [0, 1],
        "checkpoints": log_spaced_steps(20, 200, 7),
        "batch": 64,
        "evaluated": 2_048,
    }
    return [e for e in train_ladder(corpus, **{**settings, **changes}) if isinstance(e, Evaluation)]


@pytest.fixture(scope="module")
def trained(prose):
    return evaluations(prose)


def curve(points, width, seed):
    return [(e.step, e.tokens, e.loss) for e in points if (e.width, e.seed) == (width, seed)]


def test_every_width_and_seed_is_measured_at_every_budget(trained):
    steps = log_spaced_steps(20, 200, 7)
    for width in (16, 32):
        for seed in (0, 1):
            points = curve(trained, width, seed)
            assert [step for step, _, _ in points] == steps
            assert [tokens for _, tokens, _ in points] == [64 * step for step in steps]
    assert len(trained) == 2 * 2 * 7


def test_curves_stream_together(trained):
    assert [(e.step, e.width, e.seed) for e in trained] == sorted((e.step, e.width, e.seed) for e in trained)


def test_same_seed_same_curve(prose, trained):
    assert evaluations(prose) == trained
    assert curve(trained, 16, 0) != curve(trained, 16, 1)


def test_a_member_trained_alone_is_the_member_trained_among_others(prose, trained):
    alone = evaluations(prose, widths=[32], seeds=[1])
    among = curve(trained, 32, 1)
    np.testing.assert_allclose([e.loss for e in alone], [loss for _, _, loss in among], rtol=1e-4)


def test_a_longer_run_starts_like_a_shorter_one(prose, trained):
    longer = evaluations(prose, checkpoints=[20, 300])
    np.testing.assert_allclose(curve(longer, 16, 0)[0][2], curve(trained, 16, 0)[0][2], rtol=1e-5)


@pytest.mark.parametrize(("model", "batch", "steps"), [("residual-mlp", 256, 500), ("decoder", 8, 200)])
def test_loss_falls_below_the_unigram_entropy(prose, model, batch, steps):
    points = evaluations(
        prose, model=model, widths=[32], seeds=[0, 1], batch=batch, checkpoints=[steps // 4, steps]
    )
    losses = np.array([e.loss for e in points]).reshape(2, 2)
    assert (losses[1] < losses[0] - 0.1).all()
    assert (losses[1] < prose.unigram_entropy() - 0.2).all()


def test_wider_is_better_from_the_same_data(prose):
    points = evaluations(prose, widths=[16, 64], checkpoints=[400], batch=128)
    narrow, wide = np.array([e.loss for e in points]).reshape(2, 2)
    assert (wide < narrow).all()


def test_ticks_come_often_enough_to_stop(prose):
    last = time.perf_counter()
    ticks = []
    for event in train_ladder(
        prose, model="residual-mlp", widths=[16, 64], seeds=[0], checkpoints=[300], batch=256
    ):
        if isinstance(event, Tick):
            ticks.append((event, time.perf_counter() - last))
        last = time.perf_counter()
    done = [tick.done for tick, _ in ticks]
    assert len(ticks) >= 3
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] <= 1
    assert np.median([gap for _, gap in ticks]) < 0.25  # on a busy machine; 0.05 is meant


def test_a_rate_far_too_high_is_told(prose):
    with pytest.raises(Diverged, match=r"width 16, seed 0, diverged by step 10: .* lower the learning rate"):
        evaluations(prose, learning_rate=1e4)


def test_log_spaced_steps():
    assert log_spaced_steps(100, 1600, 5) == [100, 200, 400, 800, 1600]
    assert len(set(log_spaced_steps(274, 800, 7))) == 7
    with pytest.raises(BadInput, match="no 7 log-spaced steps"):
        log_spaced_steps(1, 8, 7)


def test_counts_by_name():
    assert count_parameters("residual-mlp", 64, 97) == (22_784, 30_253)
    assert tokens_a_step("residual-mlp", 256) == 256
    assert tokens_a_step("decoder", 16) == 1024


def test_bad_input(prose):
    with pytest.raises(BadInput, match=r"steps need .*, since nothing is read twice"):
        require_single_pass(prose, "residual-mlp", 256, 100_000)
    with pytest.raises(BadInput, match="no model called 'lstm'"):
        evaluations(prose, model="lstm")
    with pytest.raises(BadInput, match="no usable device 'abacus'"):
        evaluations(prose, device="abacus")
