"""A plain ReLU network with dropout after every hidden layer, stacked: 64 pixels, L hidden layers, 10 classes.

    x = relu(x W_l + b_l), then dropout,  l = 1 ... L;      logits = x W + b

Weights have variance sw2 / inputs, biases sb2; the output map starts with variance 1 / inputs and no bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from explorer.training.digits import CLASSES, PIXELS
from explorer.training.stacked import generators_of, linear

Drop = Callable[[Tensor, int], Tensor]


class DropoutMLP(nn.Module):
    """`copies` networks of each seed, copies first: member i has seeds[i % S], and all copies of a seed start equal.

    Args:
        width, depth: of the hidden layers.
        sw2, sb2: variances of their weights (times inputs) and biases.
    """

    def __init__(
        self, width: int, depth: int, seeds: Sequence[int], copies: int, sw2: float = 1.98, sb2: float = 0.02
    ) -> None:
        super().__init__()
        self.width, self.depth = width, depth
        own = generators_of(seeds)

        def normal(*shape: int, scale: float) -> nn.Parameter:
            once = torch.stack([torch.randn(shape, generator=g) * scale for g in own])
            return nn.Parameter(once.repeat(copies, *[1] * len(shape)))

        inputs = [PIXELS, *[width] * (depth - 1)]
        self.weights = nn.ParameterList(normal(n, width, scale=math.sqrt(sw2 / n)) for n in inputs)
        self.biases = nn.ParameterList(normal(width, scale=math.sqrt(sb2)) for _ in inputs)
        self.out_weight = normal(width, CLASSES, scale=math.sqrt(1 / width))
        self.out_bias = normal(CLASSES, scale=0.0)

    def dropped_shape(self, batch: int) -> tuple[int, ...]:
        """What dropout falls on in one layer of one member."""
        return (batch, self.width)

    def forward(self, images: Tensor, drop: Drop | None = None) -> Tensor:
        """Logits (E, B, 10) of images (E, B, 64)."""
        x = images
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.relu(linear(x, weight, bias))
            if drop is not None:
                x = drop(x, layer)
        return linear(x, self.out_weight, self.out_bias)

    def parameter_count(self) -> int:
        """Parameters of one member."""
        return sum(parameter[0].numel() for parameter in self.parameters())
