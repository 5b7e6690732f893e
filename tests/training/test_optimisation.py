"""AdamW against torch's, and the average of weights against its formula."""

import pytest
import torch

from explorer.training.adamw import AdamW
from explorer.training.averaging import average_into, averaging_factor


@pytest.mark.parametrize("fused", [True, False])
def test_adamw_is_torchs(fused):
    generator = torch.Generator().manual_seed(0)
    shapes = [(3, 4, 5), (3, 5)]
    ours = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    theirs = [weight.detach().clone().requires_grad_() for weight in ours]
    mine = AdamW(ours, decay=0.1, fused=fused)
    reference = torch.optim.AdamW(theirs, betas=(0.9, 0.95), weight_decay=0.1, foreach=False, fused=False)
    for step in range(20):
        rate = 1e-2 * min(1.0, (step + 1) / 5)
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=generator)
            other.grad = one.grad.clone()
        reference.param_groups[0]["lr"] = rate
        mine.step(rate)
        reference.step()
        assert ours[0].grad is None
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_average_follows_its_formula():
    steps, eta = 200, 8
    weights = torch.randn(steps, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    averaged = [torch.full((3,), 1e6, dtype=torch.float64)]  # initial values leave no trace
    for step in range(1, steps + 1):
        average_into(averaged, [weights[step - 1]], step, eta)
    # The same in closed form: the iterate of step s weighs as the factor then, shrunk by all later ones.
    share = torch.ones(steps, dtype=torch.float64)
    for s in range(1, steps + 1):
        share[s - 1] = averaging_factor(s, eta)
        for later in range(s + 1, steps + 1):
            share[s - 1] *= 1 - averaging_factor(later, eta)
    assert share.sum() == pytest.approx(1, abs=1e-12)
    torch.testing.assert_close(averaged[0], share @ weights, rtol=1e-9, atol=1e-9)
    age = float((share * torch.arange(steps - 1, -1, -1)).sum())
    assert age == pytest.approx(steps / (eta + 2), rel=0.02)


def test_average_of_a_constant_is_that_constant():
    averaged = [torch.zeros(2)]
    for step in range(1, 50):
        average_into(averaged, [torch.tensor([1.5, -2.0])], step)
    torch.testing.assert_close(averaged[0], torch.tensor([1.5, -2.0]))
