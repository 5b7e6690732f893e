"""The update rule of MARS-AdamW, weight by weight, and the two gradients behind it."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.training.decoder import Decoder
from explorer.training.mars import Conditions, MarsAdamW, gradients_of, warm_up_and_cosine

B1, B2, DECAY = 0.95, 0.99, 0.01
VOCABULARY = 11


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """As in a worker; on a busy computer two threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def decoder(seeds=(0, 1)):
    return Decoder(16, seeds, VOCABULARY)


def minibatch(members, number, batch=2):
    generator = torch.Generator().manual_seed(number)
    one = torch.randint(VOCABULARY, (1, batch, Decoder.context + 1), generator=generator)
    return one.expand(members, -1, -1)


def clip(c):
    norm = torch.linalg.vector_norm(c.flatten(1), dim=1).clamp(min=1)
    return c / norm.view(-1, *[1] * (c.dim() - 1))


def trained(gammas, form, numbers, rates=None, seeds=None):
    model = decoder(seeds or [0] * len(gammas))
    conditions = Conditions(model, gammas, rates or [3e-3] * len(gammas), form)
    for number in numbers:
        conditions.train(minibatch(len(gammas), number), 1.0)
    return conditions


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_without_correction_it_is_adamw_with_a_clip_bit_for_bit():
    """Against torch's own AdamW on gradients clipped per tensor and member; large ones, so that the clip bites."""
    conditions = trained([0.0, 0.0], "uncorrected", [], seeds=(0, 1))
    model = decoder((0, 1))
    adamw = torch.optim.AdamW(
        model.parameters(), lr=3e-3, betas=(B1, B2), weight_decay=DECAY, foreach=False, fused=False
    )
    for number in range(8):
        windows = minibatch(2, number)
        _, gradients = gradients_of(conditions.model, windows)
        scaled = [40 * gradient for gradient in gradients]
        conditions.optimiser.step(scaled, None, 1.0)
        (40 * model.losses(windows)).sum().backward()
        for weight, gradient in zip(model.parameters(), scaled, strict=True):
            weight.grad = clip(gradient)
        adamw.step()
        adamw.zero_grad()
        assert same(model.parameters(), conditions.model.parameters())
    assert conditions.optimiser.tensors_clipped.min() > 0.2


@pytest.mark.parametrize("form", ["exact", "approximate"])
def test_a_gamma_of_zero_beside_others_is_adamw_bit_for_bit(form):
    alone = trained([0.0], "uncorrected", range(6))
    beside = trained([0.0, 0.5, 1.0], form, range(6))
    assert same(alone.weights, [weight[:1] for weight in beside.weights])
    assert not same(alone.weights, [weight[1:2] for weight in beside.weights])


def test_the_second_gradient_is_taken_one_step_back_on_the_same_minibatch():
    conditions = trained([0.1, 1.0], "exact", [0])
    before = copy.deepcopy(conditions.earlier)
    here = copy.deepcopy(conditions.model)
    first = [m.clone() for m in conditions.optimiser.first]
    windows = minibatch(2, 1)
    conditions.train(windows, 1.0)
    _, g = gradients_of(here, windows)
    _, earlier = gradients_of(before, windows)
    for k, m in enumerate(conditions.optimiser.first):
        scale = torch.tensor([0.1, 1.0]).view(-1, *[1] * (g[k].dim() - 1)) * B1 / (1 - B1)
        expected = B1 * first[k] + (1 - B1) * clip(g[k] + scale * (g[k] - earlier[k]))
        torch.testing.assert_close(m, expected, rtol=1e-5, atol=1e-9)


def test_weights_one_step_back_are_kept_exactly_and_the_second_pass_moves_nothing():
    conditions = trained([0.5], "exact", range(3))
    before = [weight.detach().clone() for weight in conditions.weights]
    conditions.train(minibatch(1, 3), 0.0)  # at a rate of 0 nothing may move
    assert same(before, conditions.weights)
    conditions.train(minibatch(1, 4), 1.0)
    assert same(before, conditions.earlier.parameters())
    assert not same(before, conditions.weights)


def test_the_first_step_has_no_difference():
    """g' = g: all gammas take the same first step."""
    conditions = trained([0.0, 0.5, 1.0], "exact", [0])
    for weight in conditions.weights:
        assert torch.equal(weight[0], weight[1])
        assert torch.equal(weight[0], weight[2])


def test_on_one_fixed_batch_both_forms_are_one():
    """The gradient one step back on the same batch is the stored one: nothing random is left."""
    exact, approximate = (trained([0.1, 1.0], form, [7] * 5) for form in ("exact", "approximate"))
    assert same(exact.weights, approximate.weights)
    assert (exact.backward_passes, approximate.backward_passes) == (9, 5)


def test_on_changing_batches_the_forms_differ():
    exact = trained([1.0], "exact", range(3))
    approximate = trained([1.0], "approximate", range(3))
    assert not same(exact.weights, approximate.weights)


def test_at_one_point_the_exact_difference_is_zero_and_that_of_a_stored_gradient_has_twice_the_noise():
    model = decoder((0,))
    drawn = [torch.cat([g.flatten() for g in gradients_of(model, minibatch(1, k))[1]]) for k in range(40)]
    again = torch.cat([g.flatten() for g in gradients_of(model, minibatch(1, 0))[1]])
    assert torch.equal(drawn[0], again)
    stacked = torch.stack(drawn)
    noise = stacked.var(dim=0).sum().item()
    between = (stacked[::2] - stacked[1::2]).square().sum(dim=1).mean().item()
    assert between == pytest.approx(2 * noise, rel=0.1)


def test_gamma_one_is_momentum_variance_reduction():
    """m_t = b1 (m_{t-1} + g - g') + (1 - b1) g, as long as nothing is clipped."""
    weight = torch.zeros(1, 3)
    optimiser = MarsAdamW([weight], [1.0], [1e-3], b1=B1, b2=B2, weight_decay=0.0)
    m = torch.zeros(1, 3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(5):
        g = 0.01 * torch.randn(1, 3, generator=generator)
        earlier = g + 1e-4 * torch.randn(1, 3, generator=generator)
        optimiser.step([g], [earlier], 1.0)
        m = B1 * (m + g - earlier) + (1 - B1) * g
        torch.testing.assert_close(optimiser.first[0], m, rtol=1e-5, atol=1e-9)
    assert optimiser.clipped.item() == 0


def test_what_is_clipped_is_the_corrected_gradient_of_each_tensor_and_member():
    weights = [torch.zeros(2, 1), torch.zeros(2, 1)]
    optimiser = MarsAdamW(weights, [0.0, 1.0], [1e-3, 1e-3], b1=B1)
    gradients, earlier = [torch.full((2, 1), 0.3)] * 2, [torch.full((2, 1), 0.2), torch.full((2, 1), 0.3)]
    optimiser.step(gradients, earlier, 1.0)
    assert optimiser.clipped.tolist() == [
        0,
        1,
    ]  # 0.3 + 19 * 0.1 is above 1 in one tensor of the second member
    assert optimiser.tensors_clipped.tolist() == [0, 0.5]
    assert optimiser.first[0][:, 0].tolist() == pytest.approx([0.05 * 0.3, 0.05])


@given(st.floats(0, 1), st.floats(-0.02, 0.02), st.floats(-0.02, 0.02))
def test_corrected_gradient_agrees_with_the_law(gamma, g, earlier):
    from explorer.exhibits.mars_gamma.law import corrected_gradient

    optimiser = MarsAdamW([torch.zeros(1, 1)], [gamma], [1e-3], b1=B1)
    optimiser.step([torch.tensor([[g]])], [torch.tensor([[earlier]])], 1.0)
    expected = float(corrected_gradient(g, earlier, gamma, B1))
    assert optimiser.first[0].item() == pytest.approx((1 - B1) * expected, rel=1e-4, abs=1e-9)


def test_weight_decay_stays_outside_the_correction():
    weight = torch.ones(1, 1)
    optimiser = MarsAdamW([weight], [1.0], [0.1], weight_decay=0.5)
    optimiser.step([torch.zeros(1, 1)], [torch.zeros(1, 1)], 1.0)
    assert weight.item() == pytest.approx(1 - 0.1 * 0.5)


def test_members_have_their_own_rate():
    both = trained([0.1, 0.1], "exact", range(4), rates=[1e-2, 1e-3])
    for k, rate in enumerate((1e-2, 1e-3)):
        alone = trained([0.1], "exact", range(4), rates=[rate])
        for weight, own in zip(both.weights, alone.weights, strict=True):
            torch.testing.assert_close(weight[k : k + 1], own, rtol=1e-4, atol=1e-6)


def test_schedule():
    factors = [warm_up_and_cosine(step, 40, 5) for step in range(1, 41)]
    assert factors[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert factors[-1] == pytest.approx(0.1)
    assert factors[4:] == sorted(factors[4:], reverse=True)


def test_a_form_that_does_not_exist_or_would_leave_gamma_out_is_refused():
    with pytest.raises(BadInput, match="There is no form 'both'"):
        Conditions(decoder((0,)), [0.0], [1e-3], "both")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"Uncorrected steps take gamma = 0 only, not 0\.5"):
        Conditions(decoder((0,)), [0.5], [1e-3], "uncorrected")
