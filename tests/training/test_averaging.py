"""The average of weights against its formula."""

import pytest
import torch

from explorer.training.averaging import average_into, averaging_factor


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
