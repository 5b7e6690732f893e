"""A tiny vision transformer on 8 x 8 images, stacked: 16 patches of 2 x 2 pixels and a class token.

    x = patches W + positions                                              (17, d)
    for each block:  x = x + drop(attention(norm(x)));  x = x + drop(W_down relu(norm(x) W_up))
    logits = norm(x of the class token) W_out

Norms come first and carry no gain; both branches of a block drop out at the block's rate.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.errors import BadInput
from explorer.training.digits import CLASSES
from explorer.training.dropout_mlp import Drop
from explorer.training.stacked import fan_in_scale, generators_of, linear

PATCH, PATCHES = 4, 16
HEADS = 2


class VisionTransformer(nn.Module):
    """`copies` transformers of each seed, copies first: member i has seeds[i % S], and its copies start equal.

    Args:
        width: of the residual stream d, even.
        depth: blocks.

    Raises:
        BadInput: the width is odd.
    """

    def __init__(self, width: int, depth: int, seeds: Sequence[int], copies: int) -> None:
        super().__init__()
        if width % HEADS:
            raise BadInput(f"The width is shared by {HEADS} heads; {width} is odd.")
        self.width, self.depth = width, depth
        own = generators_of(seeds)

        def normal(*shape: int, scale: float) -> nn.Parameter:
            once = torch.stack([torch.randn(shape, generator=g) * scale for g in own])
            return nn.Parameter(once.repeat(copies, *[1] * len(shape)))

        d = width
        into, out_of = fan_in_scale(d), fan_in_scale(d) / (2 * depth) ** 0.5  # 2 a block add up
        self.patch_weight = normal(PATCH, d, scale=fan_in_scale(PATCH))
        self.token = normal(1, d, scale=0.5)
        self.position = normal(1 + PATCHES, d, scale=0.5)
        blocks = range(depth)
        self.qkv = nn.ParameterList(normal(d, 3 * d, scale=into) for _ in blocks)
        self.mix = nn.ParameterList(normal(d, d, scale=out_of) for _ in blocks)
        self.up = nn.ParameterList(normal(d, 4 * d, scale=2**0.5 * into) for _ in blocks)
        self.up_bias = nn.ParameterList(normal(4 * d, scale=0.0) for _ in blocks)
        self.down = nn.ParameterList(normal(4 * d, d, scale=out_of / 2) for _ in blocks)
        self.down_bias = nn.ParameterList(normal(d, scale=0.0) for _ in blocks)
        self.out_weight = normal(d, CLASSES, scale=into)
        self.out_bias = normal(CLASSES, scale=0.0)

    def dropped_shape(self, batch: int) -> tuple[int, ...]:
        """What dropout falls on in one branch of one member."""
        return (batch, 1 + PATCHES, self.width)

    def forward(self, images: Tensor, drop: Drop | None = None) -> Tensor:
        """Logits (E, B, 10) of images (E, B, 64); branch k of block l is dropped as layer 2 l + k."""
        members, batch, _ = images.shape
        d, length, norm = self.width, 1 + PATCHES, (self.width,)
        patches = images.view(members, batch, 4, 2, 4, 2).transpose(3, 4).reshape(members, -1, PATCH)
        x = linear(patches, self.patch_weight).view(members, batch, PATCHES, d)
        token = self.token[:, None].expand(members, batch, 1, d)
        x = torch.cat([token, x], dim=2) + self.position[:, None]

        def branch(y: Tensor, layer: int) -> Tensor:
            y = y.view(members, batch, length, d)
            return y if drop is None else drop(y, layer)

        for block in range(self.depth):
            flat = F.layer_norm(x, norm).flatten(1, 2)
            qkv = linear(flat, self.qkv[block]).view(members * batch, length, 3, HEADS, d // HEADS)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(members, -1, d)
            x = x + branch(linear(seen, self.mix[block]), 2 * block)
            flat = F.layer_norm(x, norm).flatten(1, 2)
            inner = torch.relu(linear(flat, self.up[block], self.up_bias[block]))
            x = x + branch(linear(inner, self.down[block], self.down_bias[block]), 2 * block + 1)
        return linear(F.layer_norm(x[:, :, 0], norm), self.out_weight, self.out_bias)

    def parameter_count(self) -> int:
        """Parameters of one member."""
        return sum(parameter[0].numel() for parameter in self.parameters())
