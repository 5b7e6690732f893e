"""AdamW, written out: a first step must not wait for machinery that only larger training needs.

    m <- beta1 m + (1 - beta1) g;     v <- beta2 v + (1 - beta2) g^2
    w <- w - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps) - rate decay w

torch.optim.AdamW computes the same; making one imports torch's compiler first, more than a second on a warm
worker. Where torch has the fused kernel (CPU and CUDA), it is used: one pass over the weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor


class AdamW:
    """AdamW over all of `weights`, which are changed in place from their `.grad`.

    Args:
        weights: leaf tensors on one device.
        beta1: memory of the mean gradient.
        beta2: memory of the squared gradient; .95, as is usual for language models.
        eps: keeps the division finite.
        decay: decoupled weight decay, times the rate.
        fused: use torch's fused kernel; where there is one if None.
    """

    def __init__(
        self,
        weights: Iterable[Tensor],
        *,
        beta1: float = 0.9,
        beta2: float = 0.95,
        eps: float = 1e-8,
        decay: float = 0.01,
        fused: bool | None = None,
    ) -> None:
        self.weights = list(weights)
        self.beta1, self.beta2, self.eps, self.decay = beta1, beta2, eps, decay
        self.mean = [torch.zeros_like(weight) for weight in self.weights]
        self.square = [torch.zeros_like(weight) for weight in self.weights]
        self.steps = 0
        device = self.weights[0].device
        self.fused = device.type in ("cpu", "cuda") if fused is None else fused
        self._counters = [torch.zeros((), device=device) for _ in self.weights] if self.fused else []

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update with learning rate `rate`; gradients are dropped."""
        self.steps += 1
        gradients = [torch.zeros_like(w) if w.grad is None else w.grad for w in self.weights]
        if self.fused:
            self._fused_step(gradients, rate)
        else:
            self._step(gradients, rate)
        for weight in self.weights:
            weight.grad = None

    def _step(self, gradients: list[Tensor], rate: float) -> None:
        torch._foreach_lerp_(self.mean, gradients, 1 - self.beta1)
        torch._foreach_mul_(self.square, self.beta2)
        torch._foreach_addcmul_(self.square, gradients, gradients, 1 - self.beta2)
        size = torch._foreach_sqrt(self.square)
        torch._foreach_div_(size, math.sqrt(1 - self.beta2**self.steps))
        torch._foreach_add_(size, self.eps)
        torch._foreach_mul_(self.weights, 1 - rate * self.decay)
        torch._foreach_addcdiv_(self.weights, self.mean, size, -rate / (1 - self.beta1**self.steps))

    def _fused_step(self, gradients: list[Tensor], rate: float) -> None:
        torch._foreach_add_(self._counters, 1)
        torch._fused_adamw_(
            self.weights,
            gradients,
            self.mean,
            self.square,
            [],
            self._counters,
            lr=rate,
            beta1=self.beta1,
            beta2=self.beta2,
            weight_decay=self.decay,
            eps=self.eps,
            amsgrad=False,
            maximize=False,
        )
