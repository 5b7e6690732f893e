"""The stacked models: counts by hand, gradients against an unstacked reference, members that do not mix."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from explorer.errors import BadInput
from explorer.training.decoder import Decoder
from explorer.training.residual_mlp import ResidualMLP

KINDS = [ResidualMLP, Decoder]


def windows_of(model, batch=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (model.members, batch, model.context + 1)
    return torch.randint(0, model.vocabulary, shape, generator=generator)


def test_parameter_counts_by_hand():
    model = ResidualMLP(64, [0, 1, 2], 97)
    # 96 shown numbers -> 64, 64 -> 128, 128 -> 64, each with biases
    inner = (96 * 64 + 64) + (64 * 128 + 128) + (128 * 64 + 64)
    assert model.non_embedding_count() == inner == 22_784
    assert model.parameter_count() == inner + 97 * 12 + (64 * 97 + 97) == 30_253
    assert model.forward_flops() == 2 * (96 * 64 + 2 * 64 * 128 + 64 * 97)

    decoder = Decoder(32, [0], 97)
    assert decoder.non_embedding_count() == 2 * 12 * 32 * 32 == 24_576
    assert decoder.parameter_count() == 24_576 + 97 * 32 + 64 * 32 + 32 * 97
    assert decoder.forward_flops() == 2 * (24_576 + 32 * 97) + 2 * 2 * 64 * 32


def plain_residual_mlp(p, tokens):
    """One member, written without stacking."""
    h = p["in_bias"].shape[0]
    x = F.linear(p["embedding"][tokens].flatten(1), p["in_weight"].T, p["in_bias"])
    normed = (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, correction=0, keepdim=True) + 1e-5)
    x = x + F.relu(normed @ p["up_weight"] + p["up_bias"]) @ p["down_weight"] + p["down_bias"]
    return (F.layer_norm(x, (h,)) @ p["out_weight"] + p["out_bias"])[:, None]


def plain_decoder(p, tokens):
    """One member, written without stacking, attention spelled out."""
    d = p["embedding"].shape[1]
    length = tokens.shape[1]
    x = p["embedding"][tokens] + p["position"][:length]
    for layer in range(2):
        q, k, v = (F.layer_norm(x, (d,)) @ p[f"qkv_{layer}"]).split(d, dim=-1)
        seen = []
        for head in range(d // 16):
            at = slice(16 * head, 16 * head + 16)
            scores = q[..., at] @ k[..., at].transpose(1, 2) / 4
            future = torch.ones(length, length).triu(1).bool()
            seen.append(scores.masked_fill(future, -torch.inf).softmax(-1) @ v[..., at])
        x = x + torch.cat(seen, dim=-1) @ p[f"mix_{layer}"]
        inner = F.relu(F.layer_norm(x, (d,)) @ p[f"up_{layer}"]) ** 2
        x = x + inner @ p[f"down_{layer}"]
    return F.layer_norm(x, (d,)) @ p["out_weight"]


@pytest.mark.parametrize(("kind", "plain"), [(ResidualMLP, plain_residual_mlp), (Decoder, plain_decoder)])
def test_losses_and_gradients_are_those_of_unstacked_models(kind, plain):
    model = kind(32, [3, 5, 8], 97).double()
    windows = windows_of(model)
    losses = model.losses(windows)
    losses.sum().backward()
    for member in range(3):
        own = {name: p.detach()[member].clone().requires_grad_() for name, p in model.named_parameters()}
        logits = plain(own, windows[member, :, :-1])
        targets = windows[member, :, -model.predicted :]
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        torch.testing.assert_close(losses[member], loss, rtol=1e-12, atol=1e-12)
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(parameter.grad[member], own[name].grad, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_initial_values_belong_to_the_seed_alone(kind):
    alone, among = kind(16, [7], 97), kind(16, [2, 7, 4], 97)
    for (name, one), (_, many) in zip(alone.named_parameters(), among.named_parameters(), strict=True):
        torch.testing.assert_close(one[0], many[1], rtol=0, atol=0, msg=name)
    assert not torch.equal(among.embedding[0], among.embedding[1])


@pytest.mark.parametrize("kind", KINDS)
def test_first_loss_is_close_to_a_uniform_guess(kind):
    model = kind(64, [0, 1], 97)
    with torch.no_grad():
        losses = model.losses(windows_of(model, batch=64))
    assert np.allclose(losses.numpy(), np.log(97), atol=0.05)


def test_decoder_sees_no_later_symbol():
    model = Decoder(32, [0, 1], 97)
    tokens = windows_of(model)[..., :-1]
    changed = tokens.clone()
    changed[..., 40] = (changed[..., 40] + 1) % 97
    with torch.no_grad():
        before, after = model(tokens), model(changed)
    torch.testing.assert_close(after[..., :40, :], before[..., :40, :], rtol=0, atol=1e-6)
    assert (after[..., 40:, :] - before[..., 40:, :]).abs().amax() > 1e-3


def test_residual_mlp_sees_all_eight_symbols():
    model = ResidualMLP(32, [0], 97)
    tokens = windows_of(model)[..., :-1]
    with torch.no_grad():
        before = model(tokens)
        for place in range(8):
            changed = tokens.clone()
            changed[..., place] = (changed[..., place] + 1) % 97
            assert (model(changed) - before).abs().amax() > 1e-4


def test_decoder_width_is_a_multiple_of_its_head():
    with pytest.raises(BadInput, match="multiple of 16"):
        Decoder(24, [0], 97)
