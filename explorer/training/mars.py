"""MARS-AdamW for stacked models: Adam on a gradient that is corrected by how it changed on the same minibatch.

    c_t = g_t + gamma b1 / (1 - b1) (g_t - g'_t)        g_t, g'_t: the gradients at x_t and at x_{t-1}
    c~_t = c_t / max(1, ||c_t||)                        per tensor and member
    m_t = b1 m_{t-1} + (1 - b1) c~_t
    v_t = b2 v_{t-1} + (1 - b2) c~_t^2
    x <- x - rate ([m_t / (1 - b1^t)] / (sqrt(v_t / (1 - b2^t)) + eps) + weight decay x)

The exact form takes g'_t on the minibatch of g_t, a second backward pass; the approximate form takes the gradient that
the last step had computed, on another minibatch, so that the minibatches' noise does not cancel. gamma = 0 is AdamW
with a clip of each tensor, gamma = 1 momentum variance reduction. The rule is that of the authors' code (Yuan et al.
2025), but for the first step, where g' = g here.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from explorer.errors import BadInput
from explorer.training.stacked import Stacked

Form = Literal["exact", "approximate", "uncorrected"]
FORMS: tuple[Form, ...] = ("exact", "approximate", "uncorrected")
CLIP = 1.0
EPS = 1e-8


class MarsAdamW:
    """The update rule, for weights (E, ...) of which each member has its own gamma and rate.

    Args:
        weights: changed in place.
        gammas: (E,), how much of the correction each member keeps.
        rates: (E,), the learning rates at a schedule of 1.
        b1: decay of the first moment.
        b2: decay of the second moment.
        weight_decay: decoupled, outside c_t.

    Attributes:
        step_count: steps taken.
        clipped: (E,), tensors clipped so far.
    """

    def __init__(
        self,
        weights: Sequence[Tensor],
        gammas: Sequence[float],
        rates: Sequence[float],
        *,
        b1: float = 0.95,
        b2: float = 0.99,
        weight_decay: float = 0.01,
    ) -> None:
        self.weights = list(weights)
        self.b1, self.b2, self.weight_decay = b1, b2, weight_decay
        self.gammas = torch.tensor(
            gammas, dtype=torch.float64
        )  # on the CPU: few, and not every device has doubles
        self.rates = torch.tensor(rates, dtype=torch.float64)
        self.first = [torch.zeros_like(weight) for weight in self.weights]
        self.second = [torch.zeros_like(weight) for weight in self.weights]
        self.step_count = 0
        self.clipped = torch.zeros(len(gammas), dtype=torch.int64, device=self.weights[0].device)

    @property
    def tensors_clipped(self) -> Tensor:
        """Share of tensors clipped so far, each member's own: (E,)."""
        return self.clipped / max(1, self.step_count * len(self.weights))

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor], earlier: Sequence[Tensor] | None, schedule: float) -> None:
        """One step.

        Args:
            gradients: g_t, one a weight.
            earlier: g'_t, one a weight; None is g' = g.
            schedule: factor of all rates at this step.
        """
        self.step_count += 1
        unbias_first = 1 - self.b1**self.step_count
        unbias_second = math.sqrt(1 - self.b2**self.step_count)
        rates = self.rates * schedule
        scale, decay, move = (
            torch.stack(
                [self.gammas * (self.b1 / (1 - self.b1)), 1 - rates * self.weight_decay, rates / unbias_first]
            )
            .to(torch.float32)
            .to(self.weights[0].device)
        )
        for k, (weight, first, second) in enumerate(zip(self.weights, self.first, self.second, strict=True)):
            c = gradients[k]
            if earlier is not None:
                c = c + _along(scale, c) * (c - earlier[k])
            norm = torch.linalg.vector_norm(c.flatten(1), dim=1)
            self.clipped += norm > CLIP
            c = c / _along(norm.clamp(min=CLIP), c)
            first.lerp_(c, 1 - self.b1)
            second.mul_(self.b2).addcmul_(c, c, value=1 - self.b2)
            weight.mul_(_along(decay, weight))
            size = (second.sqrt() / unbias_second).add_(EPS)
            weight.addcdiv_(first * _along(move, weight), size, value=-1)

    @torch.no_grad()
    def sizes(self, squares: Sequence[Tensor]) -> list[Tensor]:
        """What Adam would divide the next step by, if its c~^2 were `squares`; one a weight.

        Without that step a weight that has not been used for long would seem to be divided by next to nothing, which
        does not happen: its gradient enters v before it moves.
        """
        unbias = 1 - self.b2 ** (self.step_count + 1)
        return [
            (torch.lerp(square, second, self.b2) / unbias).sqrt().add_(EPS)
            for square, second in zip(squares, self.second, strict=True)
        ]


def _along(values: Tensor, like: Tensor) -> Tensor:
    """One number a member (E,), shaped so that it multiplies weights (E, ...)."""
    return values.to(like.dtype).view(-1, *[1] * (like.dim() - 1))


class Conditions:
    """Stacked models under MARS-AdamW whose members differ in gamma, rate or seed.

    Args:
        model: freshly made, on its device; members of one seed start alike.
        gammas, rates: one a member.
        form: "exact" (two backward passes a step), "approximate" (one, with the last step's gradient) or "uncorrected"
            (one; every gamma must be 0).
        more: of `MarsAdamW`.

    Attributes:
        earlier: an exact copy of the weights one step ago, x_{t-1}; of the initial ones before the first step.

    Raises:
        BadInput: no such form, or a gamma that this form would leave out.
    """

    def __init__(
        self, model: Stacked, gammas: Sequence[float], rates: Sequence[float], form: Form, **more: float
    ) -> None:
        if form not in FORMS:
            raise BadInput(f"There is no form {form!r} of the correction; choose one of {', '.join(FORMS)}.")
        if form == "uncorrected" and any(gammas):
            raise BadInput(f"Uncorrected steps take gamma = 0 only, not {max(gammas):g}.")
        self.model, self.form = model, form
        self.weights = list(model.parameters())
        self.optimiser = MarsAdamW(self.weights, gammas, rates, **more)
        self.earlier = copy.deepcopy(model)
        self.last: list[Tensor] | None = None
        self.backward_passes = 0

    def train(self, windows: Tensor, schedule: float) -> Tensor:
        """One step on windows (E, B, context + 1); the members' losses (E,) before it."""
        losses, gradients = self._gradients(self.model, windows)
        before = self.last
        if self.form == "exact" and self.optimiser.step_count:
            _, before = self._gradients(self.earlier, windows)
        self.keep()
        self.optimiser.step(gradients, before, schedule)
        if self.form == "approximate":
            self.last = gradients
        return losses

    @torch.no_grad()
    def keep(self) -> None:
        """Copy the weights, bit for bit, to `earlier`."""
        for there, here in zip(self.earlier.parameters(), self.weights, strict=True):
            there.copy_(here)

    def _gradients(self, model: Stacked, windows: Tensor) -> tuple[Tensor, list[Tensor]]:
        self.backward_passes += 1
        return gradients_of(model, windows)


def gradients_of(model: Stacked, windows: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Losses (E,) and each member's own gradient, one (E, ...) a weight, on windows (E, B, context + 1)."""
    losses = model.losses(windows)
    gradients = torch.autograd.grad(losses.sum(), list(model.parameters()))
    return losses.detach(), list(gradients)


def warm_up_and_cosine(step: int, steps: int, warm_up: int, floor: float = 0.1) -> float:
    """Factor of the rate at a step counted from 1: linear up to `warm_up`, then a half cosine down to `floor`."""
    if step <= warm_up:
        return step / warm_up
    share = (step - warm_up) / max(1, steps - warm_up)
    return floor + (1 - floor) * (1 + math.cos(math.pi * min(share, 1.0))) / 2
