"""The probe: moments without bias, curvature against the exact one, and a model left as it was."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from explorer.training.decoder import Decoder
from explorer.training.mars import Conditions, gradients_of
from explorer.training.probe import Moments, curvature, differences, square, sum_of_products

VOCABULARY = 11


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """As in a worker; on a busy computer two threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def answer(generator):
    """What a generator returns at its end."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


def minibatches(count, batch=2, members=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    one = torch.randint(VOCABULARY, (count, 1, batch, Decoder.context + 1), generator=generator)
    return list(one.expand(-1, members, -1, -1))


@pytest.fixture(scope="module")
def conditions():
    made = Conditions(Decoder(16, [0, 1], VOCABULARY), [0.0, 0.0], [1e-2, 1e-2], "uncorrected")
    for windows in minibatches(12, members=2):
        made.train(windows, 1.0)
    return made


def test_the_square_of_the_mean_is_freed_of_its_bias():
    """Members are independent repetitions: over 4,000 of them both estimates are right, the plain square is not."""
    generator = torch.Generator().manual_seed(0)
    truth = torch.tensor([0.3, -0.4, 0.0, 0.0])
    moments = Moments()
    for _ in range(5):
        moments.add([truth + torch.randn(4_000, 4, generator=generator)])
    mean_square, variance = moments.mean_square_and_variance()
    assert mean_square.mean().item() == pytest.approx(0.25, abs=0.05)
    assert variance.mean().item() == pytest.approx(4.0, rel=0.02)
    plain = square(moments.total).mean().item() / 25
    assert plain == pytest.approx(0.25 + 4 / 5, rel=0.05)


def test_differences_are_those_of_gradients_on_the_same_minibatches(conditions):
    shown = minibatches(3, members=2, seed=5)
    found = answer(differences(conditions.model, conditions.earlier, shown))
    changes = []
    for windows in shown:
        (_, here), (_, there) = (gradients_of(m, windows) for m in (conditions.model, conditions.earlier))
        changes.append(torch.cat([(a - b).flatten(1) for a, b in zip(here, there, strict=True)], dim=1))
    stacked = torch.stack(changes).double()
    torch.testing.assert_close(found.variance, stacked.var(dim=0).sum(dim=1))
    expected = stacked.mean(dim=0).square().sum(dim=1) - stacked.var(dim=0).sum(dim=1) / 3
    torch.testing.assert_close(found.mean_square, expected)
    assert (found.distance > 0).all()


def test_no_step_no_difference(conditions):
    found = answer(differences(conditions.model, conditions.model, minibatches(2, members=2)))
    assert found.distance.tolist() == found.variance.tolist() == found.mean_square.tolist() == [0, 0]


class Quadratic(nn.Module):
    """Members with the loss x^T H x / 2, whatever the windows."""

    def __init__(self, H):
        super().__init__()
        self.H = H
        self.x = nn.Parameter(torch.linspace(0.5, 1.5, H.shape[0] * H.shape[1]).view(H.shape[:2]))

    def losses(self, windows):
        return torch.einsum("ei,eij,ej->e", self.x, self.H, self.x) / 2


def test_curvature_is_the_largest_eigenvalue_under_the_preconditioner():
    """Also where a negative one is larger in size."""
    generator = torch.Generator().manual_seed(0)
    Q = torch.linalg.qr(torch.randn(2, 12, 12, generator=generator)).Q
    values = torch.stack([torch.linspace(-9, 5, 12), torch.linspace(0.1, 2, 12)])
    sizes = torch.rand(2, 12, generator=generator) + 0.5
    root = sizes.sqrt()
    H = root[:, :, None] * (Q * values[:, None, :] @ Q.mT) * root[:, None, :]
    found = answer(curvature(Quadratic(H), [sizes], torch.zeros(1), 12))
    assert found.tolist() == pytest.approx([5, 2], rel=2e-3)
    rough = answer(curvature(Quadratic(H), [sizes], torch.zeros(1), 5))
    assert all(0.8 * exact < value <= exact * 1.002 for value, exact in zip(rough, [5, 2], strict=True))


def test_the_curvature_along_one_direction_is_that_of_exact_derivatives(conditions):
    windows = minibatches(1, batch=4, members=2, seed=9)[0]
    moments = answer(differences(conditions.model, conditions.earlier, minibatches(3, members=2)))
    sizes = conditions.optimiser.sizes(moments.squares)
    found = answer(curvature(conditions.model, sizes, windows, 1))
    generator = torch.Generator().manual_seed(0)
    direction = [torch.randn(w.shape[1:], generator=generator).expand_as(w) for w in conditions.weights]
    length = square(direction).sqrt()
    move = [
        (d / length.view(-1, *[1] * (d.dim() - 1)) / size.sqrt()).float()
        for d, size in zip(direction, sizes, strict=True)
    ]
    with sdpa_kernel(SDPBackend.MATH):
        loss = conditions.model.losses(windows).sum()
        gradients = torch.autograd.grad(loss, conditions.weights, create_graph=True)
        product = torch.autograd.grad(gradients, conditions.weights, grad_outputs=move)
    assert found.tolist() == pytest.approx(sum_of_products(move, product).tolist(), rel=0.02)


def test_the_probe_leaves_the_model_as_it_was(conditions):
    before = [weight.detach().clone() for weight in conditions.weights]
    moments = answer(differences(conditions.model, conditions.earlier, minibatches(2, members=2)))
    answer(
        curvature(
            conditions.model, conditions.optimiser.sizes(moments.squares), minibatches(1, members=2)[0], 2
        )
    )
    assert all(torch.equal(a, b) for a, b in zip(before, conditions.weights, strict=True))


def test_sizes_are_those_of_the_next_step(conditions):
    optimiser = copy.deepcopy(conditions.optimiser)
    g = [torch.full_like(weight, 1e-3) for weight in optimiser.weights]  # short enough not to be clipped
    sizes = optimiser.sizes([gradient.square() for gradient in g])
    optimiser.step(g, None, 0.0)
    unbias = (1 - optimiser.b2**optimiser.step_count) ** 0.5
    for size, second in zip(sizes, optimiser.second, strict=True):
        torch.testing.assert_close(size, second.sqrt() / unbias + 1e-8, rtol=1e-4, atol=1e-8)
