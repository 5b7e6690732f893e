"""What a stacked model's gradients do between two iterates, and how curved its loss is under Adam's preconditioner."""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.training.mars import gradients_of
from explorer.training.stacked import Stacked

NUDGE = 1e-4
"""Length of the finite difference behind a curvature, as a share of the length of the weights."""


@dataclass(frozen=True)
class Differences:
    """Moments of minibatch gradients at two iterates; each (E,) in double precision, one a member.

    Args:
        distance: ||x - x'||.
        mean_square: ||E D||^2 of the gradient difference D on one minibatch, its bias Var D / K taken off; it may
            come out below 0 where the noise hides it.
        variance: Var D, the sum over all weights.
        gradient_square: ||E g||^2 at x, its bias taken off.
        noise: Var g at x.
        squares: mean over minibatches of g^2 at x, weight by weight, one (E, ...) a weight.
    """

    distance: Tensor
    mean_square: Tensor
    variance: Tensor
    gradient_square: Tensor
    noise: Tensor
    squares: list[Tensor]


class Moments:
    """Mean and variance of vectors that come one by one, members apart: the mean's square freed of its bias."""

    def __init__(self) -> None:
        self.count = 0
        self.total: list[Tensor] = []
        self.squares: Tensor | float = 0.0

    def add(self, vectors: Sequence[Tensor]) -> None:
        """One vector of each member, in pieces (E, ...)."""
        self.squares = self.squares + square(vectors)
        if self.count:
            torch._foreach_add_(self.total, list(vectors))
        else:
            self.total = [vector.clone() for vector in vectors]
        self.count += 1

    def mean_square_and_variance(self) -> tuple[Tensor, Tensor]:
        """||mean||^2 - variance / K and the variance over K vectors: both without bias, (E,) each."""
        of_mean = square(self.total) / self.count**2
        variance = (self.squares - self.count * of_mean) / (self.count - 1)
        return of_mean - variance / self.count, variance


def square(vectors: Iterable[Tensor]) -> Tensor:
    """Squared length of each member's vector, in pieces (E, ...): (E,), added up in double precision."""
    return torch.stack([_precise(piece).flatten(1).square().sum(dim=1) for piece in vectors]).sum(dim=0)


def differences(
    here: Stacked, there: Stacked, minibatches: Iterable[Tensor]
) -> Generator[None, None, Differences]:
    """Gradient differences between two sets of weights, each minibatch at both.

    Args:
        here: at x.
        there: at x'.
        minibatches: at least two windows tensors (E, B, context + 1).

    Returns:
        the moments; yields after each minibatch, so that the caller can answer in between.
    """
    difference, gradient = Moments(), Moments()
    squares: list[Tensor] = [torch.zeros_like(weight) for weight in here.parameters()]
    for windows in minibatches:
        _, at_here = gradients_of(here, windows)
        _, at_there = gradients_of(there, windows)
        gradient.add(at_here)
        torch._foreach_addcmul_(squares, at_here, at_here)
        difference.add(torch._foreach_sub(at_here, at_there))
        yield
    moved = [a.detach() - b.detach() for a, b in zip(here.parameters(), there.parameters(), strict=True)]
    mean_square, variance = difference.mean_square_and_variance()
    gradient_square, noise = gradient.mean_square_and_variance()
    torch._foreach_div_(squares, difference.count)
    return Differences(square(moved).sqrt(), mean_square, variance, gradient_square, noise, squares)


def curvature(
    model: Stacked, sizes: Sequence[Tensor], windows: Tensor, iterations: int, seed: int = 0
) -> Generator[None, None, Tensor]:
    """Largest curvature h of the loss on `windows` as Adam sees it: of D^-1/2 H D^-1/2, where D = `sizes`.

    Lanczos' iteration from a random direction; a Hessian-vector product is the difference of two gradients. The value
    rises with the iterations and is close to the largest eigenvalue after some six. While D stands, an update
    x -= rate D^-1 m is stable there if rate h is below the edge.

    Args:
        model: left as it is.
        sizes: positive, one (E, ...) a weight.
        windows: (E, B, context + 1).
        iterations: at least one.
        seed: of the first direction.

    Returns:
        h, (E,); yields after each gradient.
    """
    scratch = copy.deepcopy(model)
    weights = [weight.detach() for weight in model.parameters()]
    generator = torch.Generator().manual_seed(seed)
    roots = [size.sqrt() for size in sizes]
    length = square(weights).sqrt()
    direction = [torch.randn(w.shape[1:], generator=generator).to(w).expand_as(w) for w in weights]
    basis: list[list[Tensor]] = []
    projected = torch.zeros(len(length), iterations, iterations, dtype=length.dtype)
    for k in range(iterations):
        direction = _scaled(direction, 1 / square(direction).sqrt())
        basis.append(direction)
        move = [piece / root for piece, root in zip(direction, roots, strict=True)]
        nudge = NUDGE * length / square(move).sqrt()
        ahead = _gradients_at(scratch, weights, move, nudge, windows)
        yield
        behind = _gradients_at(scratch, weights, move, -nudge, windows)
        change = [(a - b) / root for a, b, root in zip(ahead, behind, roots, strict=True)]
        direction = _scaled(change, 1 / (2 * nudge))
        for j, one in enumerate(basis):
            shared = sum_of_products(one, direction)
            projected[:, j, k] = projected[:, k, j] = shared.cpu()
            direction = [a - b for a, b in zip(direction, _scaled(one, shared), strict=True)]
        yield
    return torch.linalg.eigvalsh(projected)[:, -1].to(length)


def sum_of_products(one: Iterable[Tensor], other: Iterable[Tensor]) -> Tensor:
    """Inner product of each member's vectors: (E,) in double precision."""
    products = [(_precise(a) * b).flatten(1).sum(dim=1) for a, b in zip(one, other, strict=True)]
    return torch.stack(products).sum(dim=0)


def _precise(piece: Tensor) -> Tensor:
    """In double precision, where the device has it."""
    return piece if piece.device.type == "mps" else piece.double()


def _scaled(pieces: Iterable[Tensor], factor: Tensor) -> list[Tensor]:
    return [piece * factor.to(piece.dtype).view(-1, *[1] * (piece.dim() - 1)) for piece in pieces]


@torch.no_grad()
def _place(scratch: Stacked, weights: Sequence[Tensor], move: Sequence[Tensor]) -> None:
    for there, weight, step in zip(scratch.parameters(), weights, move, strict=True):
        there.copy_(weight + step)


def _gradients_at(
    scratch: Stacked, weights: Sequence[Tensor], move: Sequence[Tensor], share: Tensor, windows: Tensor
) -> list[Tensor]:
    _place(scratch, weights, _scaled(move, share))
    return gradients_of(scratch, windows)[1]
