"""Profiles raced against each other: paired by seed, independent of their neighbours, told what goes wrong."""

import math

import pytest
import torch

from explorer.errors import BadInput, Diverged
from explorer.training.digits import digit_task
from explorer.training.dropout_mlp import DropoutMLP
from explorer.training.profiles import Measurement, Tick, train_profiles
from explorer.training.vision_transformer import VisionTransformer


def mlp(seeds, copies):
    return DropoutMLP(16, 4, seeds, copies)


def transformer(seeds, copies):
    return VisionTransformer(12, 2, seeds, copies)


def race(build=mlp, rates=((0.1,) * 4, (0.2, 0.2, 0, 0)), seeds=(0, 1), epochs=6, rate=3e-3, **more):
    task = digit_task(list(seeds), 100, 200, 0.1)
    settings = {"batch": 25, "measured": range(2, epochs + 1, 2)} | more
    return list(
        train_profiles(build, task, rates=rates, seeds=seeds, epochs=epochs, learning_rate=rate, **settings)
    )


def measured(events):
    return [event for event in events if isinstance(event, Measurement)]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("build", [mlp, transformer])
def test_they_learn_and_are_measured(build):
    events = race(build, epochs=20, measured=[1, 20])
    first, last = measured(events)
    assert (first.epoch, last.epoch) == (1, 20)
    assert last.test_loss.shape == last.train_loss.shape == last.test_accuracy.shape == (2, 2)
    assert torch.all(last.train_loss < first.train_loss)
    assert torch.all(last.test_accuracy > 0.2)
    ticks = [event.done for event in events if isinstance(event, Tick)]
    assert ticks == sorted(ticks)
    assert ticks[-1] == 1


@pytest.mark.parametrize("build", [mlp, transformer])
def test_all_copies_of_a_seed_start_equal(build):
    model = build([0, 7], 3)
    for parameter in model.parameters():
        first, second, third = parameter.view(3, 2, *parameter.shape[1:])
        assert torch.equal(first, second)
        assert torch.equal(first, third)
    weight = next(iter(model.parameters())).view(3, 2, -1)
    assert not torch.equal(weight[0, 0], weight[0, 1])


@pytest.mark.parametrize("build", [mlp, transformer])
def test_equal_profiles_end_equal(build):
    last = measured(race(build, rates=((0.2, 0.1, 0, 0),) * 2))[-1]
    assert last.test_loss[0] == pytest.approx(last.test_loss[1].tolist(), rel=1e-5)


def test_a_curve_does_not_hang_on_its_neighbours():
    together = measured(race())[-1].test_loss
    alone = measured(race(rates=((0.2, 0.2, 0, 0),), seeds=(1,)))[-1].test_loss
    assert together[1, 1].item() == pytest.approx(alone[0, 0].item(), rel=1e-4)


def test_the_same_run_twice_gives_the_same_numbers():
    first, second = (torch.stack([m.test_loss for m in measured(race())]) for _ in range(2))
    assert torch.equal(first, second)


def test_measuring_is_without_dropout():
    """At a learning rate of nothing, any rate gives the loss of the untrained network."""
    last = measured(race(rates=((0.0,) * 4, (0.5,) * 4), rate=0.0))[-1]
    assert torch.equal(last.test_loss[0], last.test_loss[1])
    assert last.test_loss.mean().item() == pytest.approx(math.log(10), rel=0.4)


def test_parameters_of_the_network_on_the_page():
    assert DropoutMLP(96, 6, [0], 2).parameter_count() == 53_770
    assert VisionTransformer(24, 4, [0], 1).parameter_count() == 28_906


def test_initial_variances():
    model = DropoutMLP(200, 3, range(4), 1, sw2=1.98, sb2=0.02)
    assert model.weights[1].var().item() * 200 == pytest.approx(1.98, rel=0.02)
    assert model.biases[1].var().item() == pytest.approx(0.02, rel=0.2)


def test_what_goes_wrong_is_told():
    with pytest.raises(BadInput, match="batch of 500 images"):
        race(batch=500)
    with pytest.raises(BadInput, match="13 is odd"):
        VisionTransformer(13, 2, [0], 1)
    with pytest.raises(Diverged, match="lower the learning rate"):
        race(rate=1e9)
