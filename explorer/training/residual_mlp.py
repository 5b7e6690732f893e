"""A residual MLP that predicts one character from the eight before it: the cheapest model that shows the law.

    e = embedding of 8 characters, 12 numbers each      (96)
    x = e W_in + b_in                                   (h)
    x = x + relu(norm(x) W_up + b_up) W_down + b_down   (h -> 2h -> h)
    logits = norm(x) W_out + b_out                      (97)

The norms carry no gain: the linear map behind each would absorb it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from explorer.training.stacked import Stacked, embed, fan_in_scale, generators_of, linear

CONTEXT = 8
EMBEDDING = 12


class ResidualMLP(Stacked):
    """E residual MLPs of one width h, one a seed.

    Args:
        width: h.
        seeds: one a member; a member's initial values depend on its own seed and width only.
        vocabulary: number of symbols V.
    """

    context = CONTEXT
    predicted = 1
    embedding_parameters = ("embedding", "out_weight", "out_bias")

    def __init__(self, width: int, seeds: Sequence[int], vocabulary: int) -> None:
        super().__init__(width, seeds, vocabulary)
        h, own = width, generators_of(seeds)
        self.embedding = self.new_parameter(vocabulary, EMBEDDING, scale=1.0, generators=own)
        shown = CONTEXT * EMBEDDING
        self.in_weight = self.new_parameter(shown, h, scale=fan_in_scale(shown), generators=own)
        self.in_bias = self.new_zeros(h)
        self.up_weight = self.new_parameter(h, 2 * h, scale=fan_in_scale(h), generators=own)
        self.up_bias = self.new_zeros(2 * h)
        self.down_weight = self.new_parameter(2 * h, h, scale=fan_in_scale(2 * h), generators=own)
        self.down_bias = self.new_zeros(h)
        # Logits start small, so that the first loss is close to that of a uniform guess.
        self.out_weight = self.new_parameter(h, vocabulary, scale=0.1 * fan_in_scale(h), generators=own)
        self.out_bias = self.new_zeros(vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (E, B, 1, V) of the character after tokens (E, B, 8)."""
        norm = (self.width,)
        x = linear(embed(tokens, self.embedding).flatten(2), self.in_weight, self.in_bias)
        inner = torch.relu(linear(F.layer_norm(x, norm), self.up_weight, self.up_bias))
        x = x + linear(inner, self.down_weight, self.down_bias)
        return linear(F.layer_norm(x, norm), self.out_weight, self.out_bias).unsqueeze(2)

    def forward_flops(self) -> int:
        """Two operations a weight of the four linear maps."""
        h = self.width
        return 2 * (CONTEXT * EMBEDDING * h + 4 * h * h + h * self.vocabulary)
