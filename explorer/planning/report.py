"""A plan as text for a terminal or a notebook cell."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.numbers import write_number
from explorer.planning.answer import Interval, Plan


def report(plan: Plan) -> str:
    """The plan, its choices, what other laws say, and its notes, on lines of at most 120 characters or so."""
    lines = [f"{plan.question} ({plan.account}).", f"Law: {plan.title}; {plan.source.rstrip('.')}.", ""]
    lines += [f"{name:22} {text}".rstrip() for name, text in _facts(plan)]
    asks_loss = plan.goal == "least loss"
    if plan.choices:
        head = (
            "other choices",
            "N",
            "D",
            "D/N",
            *(("loss", "penalty") if asks_loss else ("FLOPs",)),
            "wasted FLOPs",
        )
        rows = [
            (
                one.name,
                *map(write_number, (one.N, one.D, one.tokens_per_parameter)),
                *((_loss(one.loss), _loss(one.loss_penalty)) if asks_loss else (write_number(one.flops),)),
                _percent(one.waste),
            )
            for one in plan.choices
        ]
        lines += ["", *_table(head, rows)]
    if len(plan.opinions) > 1:
        head = ("law", "N", "D", "D/N", "loss" if asks_loss else "FLOPs", "loss of this plan", "penalty")
        rows = [
            (
                one.name,
                *map(write_number, (one.N, one.D, one.tokens_per_parameter)),
                _loss(one.loss) if asks_loss else write_number(one.flops),
                _loss(one.loss_of_plan),
                _loss(one.penalty),
            )
            for one in plan.opinions
        ]
        lines += ["", *_table(head, rows)]
    return "\n".join([*lines, "", *(f"- {note}" for note in plan.notes)])


def _facts(plan: Plan) -> list[tuple[str, str]]:
    def interval(ends: Interval | None) -> str:
        if ends is None:
            return ""
        return f"  ({plan.coverage:.0%} interval {write_number(ends[0])} to {write_number(ends[1])})"

    facts = [
        ("parameters N", f"{plan.N:.7g}  {write_number(plan.N)}{interval(plan.N_interval)}"),
        ("training tokens D", f"{plan.D:.7g}  {write_number(plan.D)}{interval(plan.D_interval)}"),
        ("tokens per parameter", f"{plan.tokens_per_parameter:.6g}"),
        ("loss", f"{_loss(plan.loss)} nats per token{interval(plan.loss_interval)}"),
        ("FLOPs", f"{plan.flops:.6g}{interval(plan.flops_interval)}"),
    ]
    if plan.loss_penalty or plan.waste:
        facts.append(
            (
                "above the best run",
                f"{_loss(plan.loss_penalty)} nats per token; {_percent(plan.waste)} FLOPs wasted",
            )
        )
    if plan.serving_flops:
        facts.append(
            ("of which", f"{plan.training_flops:.6g} in training, {plan.serving_flops:.6g} in serving")
        )
    if plan.epochs is not None:
        facts.append(("passes over the data", f"{plan.epochs:.4g}"))
    if plan.device_hours is not None:
        facts.append((f"{plan.device}-hours", f"{write_number(plan.device_hours)}"))
    if plan.cost is not None:
        facts.append(("cost", write_number(plan.cost)))
    return facts


def _loss(value: float) -> str:
    return f"{value:.6f}"


def _percent(share: float | None) -> str:
    if share is None:
        return "?"
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:,.0f} %"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(
            text.ljust(w) if k == 0 else text.rjust(w)
            for k, (text, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *rows)
    ]
