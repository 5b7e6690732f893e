"""A small pre-norm decoder transformer: the larger live model, with the same face as the residual MLP.

    x = symbol embedding + position embedding                        (T, d)
    for each layer:  x = x + attention(norm(x));  x = x + W_down relu(norm(x) W_up)^2
    logits = norm(x) W_out

Heads have 16 dimensions. No linear map has a bias, and the norms carry no gain.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from explorer.errors import BadInput
from explorer.training.stacked import Stacked, embed, fan_in_scale, generators_of, linear

CONTEXT = 64
HEAD = 16
LAYERS = 2


class Decoder(Stacked):
    """E decoders of one width d, one a seed.

    Args:
        width: d, a multiple of 16.
        seeds: one a member; a member's initial values depend on its own seed and width only.
        vocabulary: number of symbols V.

    Raises:
        BadInput: the width is not a multiple of the size of a head.
    """

    context = CONTEXT
    predicted = CONTEXT
    embedding_parameters = ("embedding", "position", "out_weight")

    def __init__(self, width: int, seeds: Sequence[int], vocabulary: int) -> None:
        super().__init__(width, seeds, vocabulary)
        if width % HEAD:
            raise BadInput(f"A decoder's width is a multiple of {HEAD} (the size of a head); {width} is not.")
        d, own = width, generators_of(seeds)
        self.embedding = self.new_parameter(vocabulary, d, scale=0.5, generators=own)
        self.position = self.new_parameter(CONTEXT, d, scale=0.5, generators=own)
        # Maps that write into the stream start smaller: 2 a layer add up.
        into, out_of = fan_in_scale(d), fan_in_scale(d) / (2 * LAYERS) ** 0.5
        for layer in range(LAYERS):
            for name, shape, scale in [
                ("qkv", (d, 3 * d), into),
                ("mix", (d, d), out_of),
                ("up", (d, 4 * d), into),
                ("down", (4 * d, d), out_of / 2),
            ]:
                parameter = self.new_parameter(*shape, scale=scale, generators=own)
                self.register_parameter(f"{name}_{layer}", parameter)
        self.out_weight = self.new_parameter(d, vocabulary, scale=0.1 * into, generators=own)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (E, B, T, V) of each next character, seeing only what stands before it."""
        members, batch, length = tokens.shape
        norm = (self.width,)
        x = embed(tokens, self.embedding) + self.position[:, None, :length]
        x = x.flatten(1, 2)
        for layer in range(LAYERS):
            qkv = linear(F.layer_norm(x, norm), self.get_parameter(f"qkv_{layer}"))
            qkv = qkv.view(members * batch, length, 3, self.width // HEAD, HEAD)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            seen = seen.transpose(1, 2).reshape(members, batch * length, self.width)
            x = x + linear(seen, self.get_parameter(f"mix_{layer}"))
            inner = torch.relu(linear(F.layer_norm(x, norm), self.get_parameter(f"up_{layer}"))).square()
            x = x + linear(inner, self.get_parameter(f"down_{layer}"))
        logits = linear(F.layer_norm(x, norm), self.out_weight)
        return logits.view(members, batch, length, self.vocabulary)

    def forward_flops(self) -> int:
        """Two operations a weight of the linear maps, and attention over half of the window on average."""
        d = self.width
        maps = LAYERS * 12 * d * d + d * self.vocabulary
        return 2 * maps + LAYERS * 2 * d * CONTEXT
