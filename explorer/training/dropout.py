"""Dropout in stacked models, with a rate for every layer and luck that is shared where it should be.

Members of a stack are all pairs (profile, seed), profiles first. Profiles are compared seed by seed, so a unit's
uniform draw is the same for every profile of a seed: where two profiles have one rate in a layer they drop the same
units there, and a higher rate drops those of a lower one and more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.errors import BadInput


class SharedDropout:
    """Inverted dropout for C profiles and S seeds: kept units are divided by 1 - rate.

    Args:
        rates: of C profiles in L layers, (C, L), each at least 0 and less than 1.
        seeds: S of them; a seed's draws do not depend on which others there are.
        shape: of what one member drops in a layer.

    Raises:
        BadInput: a rate outside 0 to 1.
    """

    def __init__(
        self,
        rates: Sequence[Sequence[float]],
        seeds: Sequence[int],
        shape: Sequence[int],
        device: torch.device | str = "cpu",
    ) -> None:
        self.rates = torch.tensor(np.array(rates, np.float32), device=device)
        if not bool(((self.rates >= 0) & (self.rates < 1)).all()):
            raise BadInput("A dropout rate has to be at least 0 and less than 1.")
        self.profiles, self.layers = self.rates.shape
        self._idle = (self.rates == 0).all(dim=0).tolist()
        self._generators = [torch.Generator(device).manual_seed(seed + 2_000_003) for seed in seeds]
        self._draws = torch.empty(len(seeds), self.layers, *shape, device=device)

    def draw(self) -> None:
        """New luck for every layer: once a training step."""
        for draws, generator in zip(self._draws, self._generators, strict=True):
            torch.rand(draws.shape, generator=generator, out=draws, device=draws.device)

    def __call__(self, x: Tensor, layer: int) -> Tensor:
        """x (C S, ...) after dropout in `layer`, counted from 0; its batch may be smaller than `shape` says."""
        if self._idle[layer]:
            return x
        draws = self._draws[:, layer, : x.shape[1]]
        rates = self.rates[:, layer].view(-1, *[1] * draws.dim())
        mask = (draws >= rates) / (1 - rates)
        return x * mask.flatten(0, 1)
