"""Members trained side by side: paired by seed, independent of each other, and honest about what they did."""

import numpy as np
import pytest
import torch

from explorer.errors import BadInput, Diverged
from explorer.training import windows as text_windows
from explorer.training.corrections import (
    Clipped,
    Loss,
    Member,
    Probe,
    Probed,
    Recipe,
    Tick,
    train_corrections,
)

VOCABULARY = 11
RECIPE = Recipe(width=16, vocabulary=VOCABULARY, batch=2, steps=6, warm_up=2)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """As in a worker; on a busy computer two threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def text():
    ids = np.random.default_rng(0).integers(VOCABULARY, size=4_000).astype(np.uint8)
    cut = text_windows.cut(ids, 64, 64, "cpu")
    return cut[:50], cut[50:]


def told(members, text, recipe=RECIPE, probe=None, checkpoints=(3, 6)):
    return list(train_corrections(members, recipe, *text, checkpoints, probe))


def losses(events):
    return {(e.member, e.step): e.loss for e in events if isinstance(e, Loss)}


def test_members_of_a_seed_begin_alike_and_take_the_same_first_step(text):
    members = [Member(gamma, 1e-2, 3) for gamma in (0.1, 1.0)] + [Member(0.0, 1e-2, 3, "uncorrected")]
    found = losses(told(members, text, checkpoints=(1, 2)))
    first = {found[member, 1] for member in members}
    assert max(first) - min(first) < 1e-6
    assert found[members[0], 2] != found[members[1], 2]


def test_a_members_curve_does_not_depend_on_its_neighbours(text):
    members = [Member(g, 1e-2, s) for g in (0.1, 1.0) for s in (0, 1)]
    together = losses(told(members, text))
    alone = losses(told(members[2:3], text))
    for key, loss in alone.items():
        assert loss == pytest.approx(together[key], abs=1e-5)


def test_looking_does_not_change_the_training(text):
    member = Member(0.0, 1e-2, 0, "uncorrected")
    probe = Probe([member], (2, 4), minibatches=2, curved=4, iterations=2)
    events = told([member], text, probe=probe)
    assert losses(events) == losses(told([member], text))
    looks = [event for event in events if isinstance(event, Probed)]
    assert [look.step for look in looks] == [2, 4]
    assert all(look.distance > 0 and look.noise > 0 and look.difference_variance > 0 for look in looks)


def test_only_the_watched_are_probed(text):
    members = [Member(1.0, 1e-2, 0), Member(1.0, 1e-2, 1), Member(0.5, 1e-2, 0)]
    events = told(members, text, probe=Probe(members[:1], (2,), minibatches=2, curved=2, iterations=1))
    assert [event.member for event in events if isinstance(event, Probed)] == members[:1]
    assert {member for member, _ in losses(events)} == set(members)


def test_backward_passes_are_what_the_forms_cost(text):
    members = [Member(0.0, 1e-2, 0, "uncorrected"), Member(0.1, 1e-2, 0), Member(0.1, 1e-2, 0, "approximate")]
    passes = {
        e.member.form: e.backward_passes for e in told(members, text) if isinstance(e, Loss) and e.step == 6
    }
    assert passes == {"uncorrected": 6, "exact": 11, "approximate": 6}
    assert RECIPE.flops_a_pass() % (3 * RECIPE.tokens_a_step) == 0


def test_every_member_tells_its_share_of_clipped_tensors(text):
    members = [Member(0.0, 1e-2, 0, "uncorrected"), Member(1.0, 1e-2, 0)]
    shares = {e.member: e.share for e in told(members, text) if isinstance(e, Clipped)}
    assert set(shares) == set(members)
    assert all(0 <= share <= 1 for share in shares.values())


def test_signs_of_life_never_run_back(text, monkeypatch):
    monkeypatch.setattr("explorer.training.corrections.TICK_SECONDS", 0.0)
    ticks = [e for e in told([Member(1.0, 1e-2, 0)], text) if isinstance(e, Tick)]
    done = [tick.done for tick in ticks]
    assert done == sorted(done)
    assert 0 < done[0] <= done[-1] <= 1
    assert ticks[-1].tokens == 6 * 2 * 64


def test_a_rate_beyond_all_bounds_is_told(text):
    recipe = Recipe(width=16, vocabulary=VOCABULARY, batch=2, steps=20, warm_up=1)
    with pytest.raises(Diverged, match=r"γ = 1 at the rate 1e\+06, seed 0, diverged by step"):
        told([Member(1.0, 1e6, 0)], text, recipe, checkpoints=(20,))


def test_nobody_to_train_is_told(text):
    with pytest.raises(BadInput, match="no model to train"):
        told([], text)


def test_the_order_of_a_seed_takes_pass_after_pass_and_a_longer_run_begins_like_a_shorter_one():
    order = text_windows.order(1, 5, 12)
    assert sorted(order[:5].tolist()) == sorted(order[5:10].tolist()) == [0, 1, 2, 3, 4]
    assert torch.equal(text_windows.order(1, 5, 7), order[:7])
    assert not torch.equal(text_windows.order(2, 5, 12), order)


def test_windows_do_not_overlap_in_what_they_predict():
    cut = text_windows.cut(np.arange(200, dtype=np.uint8), 64, 64, "cpu")
    assert cut.shape == (3, 65)
    assert cut[1, 0] == cut[0, 64]
    assert len(text_windows.evenly(cut, 2)) == 2
    assert len(text_windows.evenly(cut, 9)) == 3
    with pytest.raises(BadInput, match="needs 65"):
        text_windows.cut(np.zeros(10, np.uint8), 64, 64, "cpu")
