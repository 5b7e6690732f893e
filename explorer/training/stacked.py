"""What every stacked model shares: several models of one width, trained as one set of batched parameters.

A small model leaves most of a processor idle, so members (one a seed) are stacked along a first axis and
every linear map is one batched matrix product. Members never mix: each has its own initial values, data and
gradients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Stacked(nn.Module):
    """E models of one width, member e made from seeds[e] alone.

    Args:
        width: size of the residual stream.
        seeds: one a member.
        vocabulary: number of symbols V.

    Attributes:
        context: characters a window shows before its last target.
        predicted: positions of a window that are predicted, counted from its end.
        embedding_parameters: names of those that only map symbols in or out.
    """

    context: int
    predicted: int
    embedding_parameters: Sequence[str]

    def __init__(self, width: int, seeds: Sequence[int], vocabulary: int) -> None:
        super().__init__()
        self.width, self.seeds, self.vocabulary = width, tuple(seeds), vocabulary

    @property
    def members(self) -> int:
        """Number of stacked models E."""
        return len(self.seeds)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (E, B, P, V) of the P = `predicted` next symbols after tokens (E, B, context)."""
        raise NotImplementedError

    def losses(self, windows: Tensor) -> Tensor:
        """Mean cross-entropy of each member in nats a token: (E,) from windows (E, B, context + 1)."""
        logits = self(windows[..., :-1])
        targets = windows[..., -self.predicted :]
        flat = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), reduction="none")
        return flat.view(self.members, -1).mean(dim=1)

    def parameter_count(self) -> int:
        """Parameters N_total of one member, all counted."""
        return sum(parameter[0].numel() for parameter in self.parameters())

    def non_embedding_count(self) -> int:
        """Parameters N of one member without the embedding and the output map (Kaplan's count)."""
        return sum(
            parameter[0].numel()
            for name, parameter in self.named_parameters()
            if name not in self.embedding_parameters
        )

    def forward_flops(self) -> int:
        """Floating-point operations of a forward pass, a predicted token, a member: two a multiply-add."""
        raise NotImplementedError

    def new_parameter(self, *shape: int, scale: float, generators: Sequence[torch.Generator]) -> nn.Parameter:
        """Normal values (E, *shape) of standard deviation `scale`, each member from its own generator."""
        return nn.Parameter(torch.stack([torch.randn(shape, generator=g) * scale for g in generators]))

    def new_zeros(self, *shape: int) -> nn.Parameter:
        """Zeros (E, *shape)."""
        return nn.Parameter(torch.zeros(self.members, *shape))


def generators_of(seeds: Sequence[int]) -> list[torch.Generator]:
    """A generator for each member's initial values; on the CPU, so that they are the same everywhere."""
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x (E, R, in) times weight (E, in, out) plus bias (E, out): one batched product."""
    return torch.bmm(x, weight) if bias is None else torch.baddbmm(bias.unsqueeze(1), x, weight)


def embed(tokens: Tensor, table: Tensor) -> Tensor:
    """Rows of each member's table: tokens (E, ...) and table (E, V, d) give (E, ..., d)."""
    members, vocabulary, _ = table.shape
    offset = torch.arange(members, device=tokens.device) * vocabulary
    shifted = tokens + offset.view(-1, *[1] * (tokens.dim() - 1))
    return F.embedding(shifted, table.flatten(0, 1))


def fan_in_scale(inputs: int) -> float:
    """Standard deviation that keeps the size of activations through a linear map of `inputs` inputs."""
    return 1 / math.sqrt(inputs)
