"""Random networks with dropout: how alike two inputs stay from layer to layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from explorer.errors import BadInput

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "erf": torch.erf,
    "ReLU": torch.relu,
    "GELU": torch.nn.functional.gelu,
}


@torch.no_grad()
def correlations_by_layer(
    activation: str,
    *,
    width: int,
    depth: int,
    p: float,
    sw2: float,
    sb2: float,
    c0: float,
    q0: float,
    pairs: int,
    seed: int,
    device: str = "cpu",
) -> Iterator[Tensor]:
    """Correlations of pairs of inputs in one network, each input under its own masks, layer by layer.

    The first pre-activations have variance q0 and correlation c0 exactly. Then for every layer: phi, inverted dropout,
    weights of variance sw2 / width, biases of variance sb2, both drawn when they are needed.

    Yields:
        depth + 1 tensors (pairs,): the cosine between the two inputs' pre-activations.

    Raises:
        BadInput: no such activation, or a width below 2.
    """
    if activation not in ACTIVATIONS:
        raise BadInput(f"There is no activation {activation!r}; choose one of {', '.join(ACTIVATIONS)}.")
    if width < 2:
        raise BadInput(f"Two inputs need at least two units to differ in; the width is {width}.")
    phi = ACTIVATIONS[activation]
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=device)

    first = torch.nn.functional.normalize(normal(pairs, width), dim=-1)
    other = normal(pairs, width)
    other -= (other * first).sum(-1, keepdim=True) * first
    second = c0 * first + math.sqrt(max(0.0, 1 - c0**2)) * torch.nn.functional.normalize(other, dim=-1)
    u = torch.cat([first, second]) * math.sqrt(q0 * width)
    yield torch.cosine_similarity(u[:pairs], u[pairs:], dim=-1)
    for _ in range(depth):
        kept = torch.rand(u.shape, generator=generator, device=device) >= p
        weight = normal(width, width).mul_(math.sqrt(sw2 / width))
        u = torch.addmm(normal(width) * math.sqrt(sb2), phi(u) * kept / (1 - p), weight)
        yield torch.cosine_similarity(u[:pairs], u[pairs:], dim=-1)
