"""Domains are clean and apart; mixtures are read as their weights say, in one order for all of them."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from explorer.errors import BadInput
from explorer.training.corpus import Corpus, Tokenizer
from explorer.training.domains import DOMAINS, load_domain, load_domains
from explorer.training.ladder import Tick
from explorer.training.mixtures import DomainLosses, _joined, _Plan, longest_pass, train_mixtures


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def corpus(name, training, held_out):
    return Corpus(name, training.astype(np.uint8), held_out.astype(np.uint8), Tokenizer(), 1, 1)


@pytest.fixture
def two():
    """One domain of ever 1, 2, 1, 2, and one of ever 3, 4, 3, 4: each says nothing of the other."""
    return [
        corpus("ones", np.tile([1, 2], 4_000), np.tile([1, 2], 200)),
        corpus("threes", np.tile([3, 4], 4_000), np.tile([3, 4], 200)),
    ]


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_has_enough_text_and_holds_out_other_lines(name):
    text = load_domain(name)
    assert len(text.training) > 250_000
    assert 0.05 < len(text.held_out) / len(text.training) < 0.2
    training, held_out = (
        set(text.tokenizer.decode(part).split("\n")) for part in (text.training, text.held_out)
    )
    if name in ("names", "sums"):
        assert not (training & held_out) - {""}
    assert load_domain(name).training is text.training or name not in ("names", "sums")  # kept


def test_sums_are_right_and_say_that_they_are_made_up():
    text = load_domain("sums")
    lines = [line for line in text.tokenizer.decode(text.held_out).split("\n") if line][1:-1]
    for line in lines[:200]:
        left, _, total = line.partition("=")
        assert sum(map(int, left.split("+"))) == int(total)
    assert text.facts["text"] == "generated"


def test_names_say_something():
    text = load_domain("names")
    lines = text.tokenizer.decode(text.training[:20_000]).split("\n")
    assert "LATIN SMALL LETTER A" in lines
    assert not any(sign.isdigit() for line in lines for sign in line)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["prose"], "1 domain cannot be mixed"),
        ([], "0 domains cannot be mixed"),
        (["prose", "code", "prose"], "'prose' is given twice"),
        (["prose", "/nowhere/at all"], "no file or folder"),
        (["prose", ""], "no file or folder ''"),
        ([str(i) for i in range(9)], "9 domains cannot be mixed"),
    ],
)
def test_nonsense_is_told_in_a_sentence(names, sentence):
    with pytest.raises(BadInput, match=sentence):
        load_domains(names)


def test_an_empty_domain_is_told(tmp_path):
    (tmp_path / "empty.txt").write_text("  \n")
    with pytest.raises(BadInput, match=r"empty\.txt' is empty; give a text to train on"):
        load_domains(["prose", str(tmp_path / "empty.txt")])
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="no readable text file"):
        load_domains(["prose", str(tmp_path / "folder")])


def test_folders_can_be_mixed(tmp_path):
    for number in range(2):
        lines = [f"line {i} of text {number}: {'word ' * (i % 7)}" for i in range(400)]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines))
    first, second = load_domains([str(tmp_path / "0.txt"), str(tmp_path / "1.txt")])
    assert first.name != second.name
    assert len(first.held_out) > 0


def test_windows_come_from_their_domain_as_often_as_the_weights_say():
    weights = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    first, count = np.array([0, 5_000, 9_000]), np.array([5_000, 4_000, 4_000])
    plan = _Plan(weights, [3, 4], first, count, batch=30, steps=40)
    chosen = np.concatenate([plan.next(25), plan.next(15)], axis=1)
    assert chosen.shape == (4, 40, 30)
    edges = [*first, 13_000]
    for m in range(2):
        for s in range(2):
            rows = chosen[2 * m + s]
            shares = [((rows >= a) & (rows < b)).mean(axis=1) for a, b in pairwise(edges)]
            assert np.array(shares).mean(axis=1) == pytest.approx(weights[m], abs=0.01)
            assert np.abs(np.array(shares).T - weights[m]).max() <= 1 / 30 + 1e-9  # every batch alone
            assert len(np.unique(rows)) == rows.size  # nothing twice


def test_mixtures_of_a_seed_read_each_domain_in_one_order():
    weights = np.array([[0.2, 0.8], [0.6, 0.4]])
    plan = _Plan(weights, [0, 1], np.array([0, 1_000]), np.array([1_000, 1_000]), batch=10, steps=50)
    chosen = plan.next(50).reshape(2, 2, -1)
    for seed in range(2):
        one, other = (rows[rows < 1_000] for rows in chosen[:, seed])
        assert (one == other[: len(one)]).all()
    assert not (chosen[0, 0] == chosen[0, 1]).all()


def test_windows_of_one_domain_do_not_reach_into_the_next(two):
    for context, predicted in ((8, 1), (64, 64)):
        text, first, count = _joined(two, context, predicted)
        windows = np.lib.stride_tricks.sliding_window_view(text, context + 1)[::predicted]
        for symbols, start, size in zip(({1, 2}, {3, 4}), first, count, strict=True):
            assert set(np.unique(windows[start : start + size])) == symbols
            assert size > 7_000 / predicted


def train(two, mixtures, steps=60, seeds=(0,), **more):
    settings = {"model": "residual-mlp", "widths": [16], "batch": 32, "evaluated": 64, "learning_rate": 1e-2}
    stream = train_mixtures(
        two, mixtures, seeds=list(seeds), checkpoints=[steps // 2, steps], **{**settings, **more}
    )
    return [event for event in stream if isinstance(event, DomainLosses)]


def test_more_of_a_domain_teaches_it_better(two):
    ends = [event for event in train(two, [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]) if event.tokens == 60 * 32]
    losses = np.array([event.losses for event in ends])
    assert (np.diff(losses[:, 0]) > 0).all()
    assert (np.diff(losses[:, 1]) < 0).all()


def test_a_model_does_not_hang_on_those_beside_it(two):
    alone = train(two, [[0.3, 0.7]], seeds=[1])
    among = [e for e in train(two, [[0.8, 0.2], [0.3, 0.7]], seeds=[0, 1]) if (e.mixture, e.seed) == (1, 1)]
    assert [e.tokens for e in alone] == [e.tokens for e in among] == [30 * 32, 60 * 32]
    for one, other in zip(alone, among, strict=True):
        assert one.losses == pytest.approx(other.losses, abs=1e-5)


def test_progress_ends_with_all_done(two):
    stream = train_mixtures(
        two, [[0.5, 0.5]] * 4, model="residual-mlp", widths=[16, 32], seeds=[0], checkpoints=[200], batch=64
    )
    ticks = [event for event in stream if isinstance(event, Tick)]
    done = [tick.done for tick in ticks]
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] <= 1


def test_nothing_is_read_twice(two):
    room = longest_pass(two, [0.9, 0.5], "residual-mlp", 32)
    assert 32 * 0.9 * room < 8_000
    with pytest.raises(BadInput, match="would read a domain twice"):
        train(two, [[0.9, 0.1]], steps=room + 5)


@pytest.mark.parametrize(
    ("mixtures", "sentence"),
    [
        ([[0.5, 0.6]], "have to sum to 1"),
        ([[1.2, -0.2]], "The weight of threes is -0.2"),
        ([[float("nan"), 1.0]], "The weight of ones is nan"),
        ([[0.2, 0.3, 0.5]], r"3 weights were given for 2 entries \(ones, threes\)"),
    ],
)
def test_weights_that_are_no_mixture_are_told(two, mixtures, sentence):
    with pytest.raises(BadInput, match=sentence):
        train(two, mixtures)
