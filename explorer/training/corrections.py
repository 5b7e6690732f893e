"""Models that differ in how much of the gradient correction they keep, trained side by side on shared minibatches.

A member's initial values and minibatches depend on its seed alone, so that members of one seed can be compared pair by
pair. Members of one form are stacked; each stack takes a step in turn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.errors import BadInput, Diverged
from explorer.training import windows as text_windows
from explorer.training.decoder import Decoder
from explorer.training.mars import Conditions, Form, warm_up_and_cosine
from explorer.training.probe import curvature, differences

TICK_SECONDS = 0.05
CHECK_STEPS = 10
BLOCK = 16
"""Held-out windows a member measured at a time: so few that Stop is answered between two blocks."""
PROBE_ORDER = 7_919
"""Seed of the order in which the probe draws its minibatches from the training text."""


@dataclass(frozen=True)
class Member:
    """One model: how much of which correction it keeps, its peak learning rate and its seed."""

    gamma: float
    rate: float
    seed: int
    form: Form = "exact"


@dataclass(frozen=True)
class Loss:
    """Held-out loss of a member, nats a token, after `step` steps and so many backward passes."""

    member: Member
    step: int
    backward_passes: int
    loss: float


@dataclass(frozen=True)
class Probed:
    """What the probe found of a member after `step` steps.

    Args:
        difference_square: ||E D||^2 of the gradient difference D over the last step, freed of its bias (so it may
            come out negative).
        difference_variance: Var D over minibatches.
        distance: how far the last step went.
        gradient_square: ||E g||^2, freed of its bias.
        noise: Var g over minibatches.
        step_curvature: rate of this step times the largest curvature under Adam's preconditioner.
    """

    member: Member
    step: int
    difference_square: float
    difference_variance: float
    distance: float
    gradient_square: float
    noise: float
    step_curvature: float


@dataclass(frozen=True)
class Clipped:
    """Share of tensors of a member that were clipped, over all steps."""

    member: Member
    share: float


@dataclass(frozen=True)
class Tick:
    """A sign of life: share of this work done, and training tokens of all members."""

    done: float
    tokens: int


@dataclass(frozen=True)
class Recipe:
    """What all members share.

    Args:
        width: of the decoder.
        vocabulary: number of symbols.
        batch: windows a step.
        steps: to the end of the cosine.
        warm_up: steps of linear warm-up.
        b1, b2, weight_decay: of MARS-AdamW.
        together: members stacked at most.
        device: where to train.
    """

    width: int
    vocabulary: int
    batch: int
    steps: int
    warm_up: int
    b1: float = 0.95
    b2: float = 0.99
    weight_decay: float = 0.01
    together: int = 12
    device: torch.device | str = "cpu"

    @property
    def tokens_a_step(self) -> int:
        return self.batch * Decoder.predicted

    def flops_a_pass(self) -> int:
        """Floating-point operations of one member's forward and backward pass over a minibatch (three forwards)."""
        return 3 * Decoder(self.width, [0], self.vocabulary).forward_flops() * self.tokens_a_step


@dataclass(frozen=True)
class Probe:
    """When and how finely members are probed.

    Args:
        members: whom to look at.
        at: steps after which to look.
        minibatches: behind the moments of gradient differences.
        curved: windows of the loss whose curvature is taken.
        iterations: of the power iteration.
    """

    members: Sequence[Member]
    at: Sequence[int]
    minibatches: int
    curved: int
    iterations: int


class _Stack:
    """Members of one form, their minibatches and their optimiser."""

    def __init__(self, members: Sequence[Member], recipe: Recipe, windows: Tensor) -> None:
        self.members, self.recipe, self.windows = list(members), recipe, windows
        form: Form = self.members[0].form
        model = Decoder(recipe.width, [member.seed for member in members], recipe.vocabulary)
        self.conditions = Conditions(
            model.to(recipe.device),
            [member.gamma for member in members],
            [member.rate for member in members],
            form,
            b1=recipe.b1,
            b2=recipe.b2,
            weight_decay=recipe.weight_decay,
        )
        wanted = recipe.batch * recipe.steps
        orders = {m.seed: text_windows.order(m.seed, len(windows), wanted) for m in members}
        self.order = torch.stack([orders[m.seed] for m in members]).to(windows.device)

    @property
    def cost(self) -> int:
        """Backward passes a step, of all members."""
        return len(self.members) * (2 if self.conditions.form == "exact" else 1)

    def train(self, step: int) -> Tensor:
        chosen = self.order[:, (step - 1) * self.recipe.batch : step * self.recipe.batch]
        schedule = warm_up_and_cosine(step, self.recipe.steps, self.recipe.warm_up)
        return self.conditions.train(self.windows[chosen].long(), schedule)

    def held_out(self, windows: Tensor) -> Generator[None, None, Tensor]:
        """Returns the losses (E,) on windows (n, context + 1); yields after each block."""
        total = torch.zeros(len(self.members), device=windows.device)
        for block in windows.split(BLOCK):
            with torch.no_grad():
                shown = block.long().expand(len(self.members), -1, -1)
                total += self.conditions.model.losses(shown) * len(block)
            yield
        return total / len(windows)

    def probe(self, probe: Probe, step: int) -> Generator[None, None, list[Probed]]:
        """Returns one Probed a member; all of them see the same minibatches. Yields in between."""
        size, count = self.recipe.batch, probe.minibatches
        order = text_windows.order(PROBE_ORDER + step, len(self.windows), max(size * count, probe.curved))
        drawn = self.windows[order.to(self.windows.device)].long()
        every = drawn.expand(len(self.members), -1, -1)
        model, optimiser = self.conditions.model, self.conditions.optimiser
        minibatches = every[:, : size * count].split(size, dim=1)
        moments = yield from differences(model, self.conditions.earlier, minibatches)
        h = yield from curvature(
            model, optimiser.sizes(moments.squares), every[:, : probe.curved], probe.iterations
        )
        rates = optimiser.rates * warm_up_and_cosine(step, self.recipe.steps, self.recipe.warm_up)
        found = [moments.mean_square, moments.variance, moments.distance]
        found += [moments.gradient_square, moments.noise, h]
        rows = torch.stack([one.cpu().double() for one in found], dim=1)
        rows[:, -1] *= rates
        return [Probed(member, step, *row) for member, row in zip(self.members, rows.tolist(), strict=True)]

    def check(self, losses: Tensor, step: int) -> None:
        """Diverged if a member's loss is not finite, or three times that of a uniform guess."""
        guess = math.log(self.recipe.vocabulary)
        for member, loss in zip(self.members, losses.tolist(), strict=True):
            if not loss < 3 * guess:
                raise Diverged(
                    f"The model with γ = {member.gamma:g} at the rate {member.rate:g}, seed {member.seed}, diverged by "
                    f"step {step:,}: its loss is {loss:.3g} nats a token, where a uniform guess has {guess:.3g}; "
                    "lower the learning rate."
                )


def train_corrections(
    members: Sequence[Member],
    recipe: Recipe,
    windows: Tensor,
    held_out: Tensor,
    checkpoints: Sequence[int],
    probe: Probe | None = None,
) -> Iterator[Loss | Probed | Clipped | Tick]:
    """Trains every member to the last step.

    Args:
        members: of any forms.
        recipe: what they share.
        windows: of the training text, (n, context + 1) on the recipe's device.
        held_out: windows to measure on, likewise.
        checkpoints: steps after which to measure.
        probe: looks at gradient differences and curvature; training goes on as if it had not looked.

    Yields:
        a Loss for each checkpoint and member, a Probed for each of the probe's steps and member, at the end a Clipped
        for each member, and Ticks in between. A member's curve does not depend on which others are trained beside it,
        beyond rounding.

    Raises:
        BadInput: no member.
        Diverged: a loss is not finite, or is far above that of a uniform guess.
    """
    if not members:
        raise BadInput("There is no model to train; give at least one γ and one seed.")
    watched = set(probe.members) if probe else set()
    stacks = [_Stack(chunk, recipe, windows) for chunk in _chunks(members, watched, recipe.together)]
    work = recipe.steps * sum(stack.cost for stack in stacks)
    last = time.perf_counter()
    for event in _protocol(stacks, recipe, held_out, checkpoints, probe):
        if event is not None:
            yield event
        elif time.perf_counter() - last > TICK_SECONDS:
            last = time.perf_counter()
            steps_done = sum(stack.cost * stack.conditions.optimiser.step_count for stack in stacks)
            tokens = sum(len(stack.members) * stack.conditions.optimiser.step_count for stack in stacks)
            yield Tick(steps_done / work, tokens * recipe.tokens_a_step)


def _protocol(
    stacks: Sequence[_Stack],
    recipe: Recipe,
    held_out: Tensor,
    checkpoints: Sequence[int],
    probe: Probe | None,
) -> Iterator[Loss | Probed | Clipped | None]:
    """What happens, in order; None where nothing is to be told yet."""
    for step in range(1, recipe.steps + 1):
        for stack in stacks:
            losses = stack.train(step)
            if step % CHECK_STEPS == 0:
                stack.check(losses, step)
            yield None
        for stack in stacks if step in checkpoints else ():
            losses = yield from stack.held_out(held_out)
            stack.check(losses, step)
            for member, loss in zip(stack.members, losses.tolist(), strict=True):
                yield Loss(member, step, stack.conditions.backward_passes, loss)
        if probe is not None and step in probe.at:
            for stack in stacks:
                if stack.members[0] in probe.members:
                    yield from (yield from stack.probe(probe, step))
    for stack in stacks:
        shares = stack.conditions.optimiser.tensors_clipped.tolist()
        for member, share in zip(stack.members, shares, strict=True):
            yield Clipped(member, share)


def _chunks(members: Sequence[Member], watched: set[Member], together: int) -> Iterator[list[Member]]:
    """Members of one form in stacks of at most `together`, in the order given; who is probed is stacked apart."""
    kinds = [(member.form, member in watched) for member in members]
    for kind in dict.fromkeys(kinds):
        alike = [member for member, one in zip(members, kinds, strict=True) if one == kind]
        for start in range(0, len(alike), together):
            yield alike[start : start + together]
