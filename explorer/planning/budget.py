"""What there is to spend: FLOPs, device-hours or money, all turned into FLOPs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from explorer.errors import BadInput
from explorer.laws.kaplan import PF_DAY
from explorer.numbers import read_number, write_number
from explorer.planning.devices import Device, find_device

UTILISATION = 0.4
"""The share of the peak that a training run reaches where nothing else is said."""


def amount(value: Any, what: str, zero: bool = False) -> float:
    """`value`, a number or text such as 70B, as a finite float above zero.

    Args:
        what: what it is, for the sentence; e.g. "The budget in FLOPs".
        zero: whether zero will do.

    Raises:
        BadInput: it is none.
    """
    try:
        number = read_number(value) if isinstance(value, str) else float(value)
    except BadInput:
        raise BadInput(
            f"{what} is {value!r}, which is not a number: write it like 5.76e23, 70B or 1.4T."
        ) from None
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{what} is {value!r}: give a number.") from None
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise BadInput(
            f"{what} is {value}: give a finite number {'of zero or more' if zero else 'above zero'}."
        )
    return number


@dataclass(frozen=True)
class Machine:
    """What computes: a device, how much of its peak is reached, and what an hour costs.

    Args:
        device: a device or its name.
        utilisation: share of the peak that counts as model FLOPs, in (0, 1] (MFU).
        price: money for an hour of one device; no price is built in.

    Raises:
        BadInput: an unknown device, a utilisation outside (0, 1], or a price that is not above zero.
    """

    device: Device
    utilisation: float = UTILISATION
    price: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.device, str):
            object.__setattr__(self, "device", find_device(self.device))
        share = amount(self.utilisation, "The utilisation")
        if share > 1:
            raise BadInput(
                f"The utilisation is {self.utilisation}: give the share of the device's peak that is reached, "
                "above 0 and at most 1, e.g. 0.4."
            )
        object.__setattr__(self, "utilisation", share)
        if self.price is not None:
            object.__setattr__(self, "price", amount(self.price, "The price of a device-hour"))

    @property
    def flops_per_hour(self) -> float:
        """FLOPs that one device gets done in an hour."""
        return 3600 * self.device.peak * self.utilisation

    def hours(self, flops: float) -> float:
        """Device-hours for so many FLOPs."""
        return flops / self.flops_per_hour

    def cost(self, flops: float) -> float | None:
        """Money for so many FLOPs; None without a price."""
        return None if self.price is None else self.hours(flops) * self.price


@dataclass(frozen=True)
class Budget:
    """So many FLOPs, in the words in which they were given.

    Args:
        flops: model FLOPs, above zero.
        text: e.g. "10,000 H100 SXM-hours".
        machine: on what they are spent; None if nobody said.
    """

    flops: float
    text: str
    machine: Machine | None = None


def flops_budget(flops: Any, machine: Machine | None = None) -> Budget:
    """A budget in FLOPs: a number, or text such as 5.76e23, "5.76e23 FLOPs" or "100 PF-days".

    Raises:
        BadInput: it is no number above zero.
    """
    unit = 1.0
    if isinstance(flops, str) and (match := re.fullmatch(r"(.*?)\s*(flops?|pf-?days?)", flops.strip(), re.I)):
        flops, unit = match[1], PF_DAY if match[2][0] in "pP" else 1.0
    value = amount(flops, "The budget in FLOPs") * unit
    return Budget(value, f"{write_number(value)} FLOPs", machine)


def hours_budget(hours: Any, machine: Machine) -> Budget:
    """A budget in hours of one device.

    Raises:
        BadInput: it is no number above zero.
    """
    value = amount(hours, "The budget in device-hours")
    text = f"{write_number(value)} {machine.device.name}-hours"
    return Budget(value * machine.flops_per_hour, text, machine)


def money_budget(money: Any, machine: Machine) -> Budget:
    """A budget in money, in the currency of the price.

    Raises:
        BadInput: it is no number above zero, or the machine has no price.
    """
    value = amount(money, "The budget in money")
    if machine.price is None:
        raise BadInput(
            f"A budget of {write_number(value)} in money was given without a price: "
            "give the price of a device-hour as well; none is built in."
        )
    text = f"{write_number(value)} at {write_number(machine.price)} a {machine.device.name}-hour"
    return Budget(value / machine.price * machine.flops_per_hour, text, machine)


def read_budget(
    flops: Any = None,
    hours: Any = None,
    money: Any = None,
    device: str | None = None,
    utilisation: Any = None,
    price: Any = None,
) -> tuple[Budget | None, Machine | None]:
    """The one budget that was given, and the machine; None for what was not given.

    Args:
        flops: as `flops_budget`.
        hours: a number, or text that names its device, such as "1e4 H100-hours".
        money: in the currency of `price`.
        device: a name from the table.
        utilisation: share of the device's peak, `UTILISATION` if None.
        price: of one device-hour.

    Raises:
        BadInput: more than one budget, or what a budget needs is missing, unknown or out of range.
    """
    given = {"FLOPs": flops, "device-hours": hours, "money": money}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise BadInput(f"Budgets were given in {' and in '.join(named)}: give one of them.")
    if isinstance(hours, str) and (match := re.fullmatch(r"\s*(\S+)\s+(.+?)[\s-]*hours?\s*", hours, re.I)):
        if match[2].lower() not in ("gpu", "device", "accelerator", "tpu"):
            own = find_device(match[2])
            if device is not None and find_device(device) != own:
                raise BadInput(
                    f"Hours of {own.name} and the device {find_device(device).name} were given: name one device."
                )
            device = own.name
        hours = match[1]
    if device is None:
        for what, value in (("device-hours", hours), ("money", money)):
            if value is not None:
                raise BadInput(f"A budget in {what} was given without a device: name one, e.g. H100.")
        for what, value in (("A utilisation", utilisation), ("A price", price)):
            if value is not None:
                raise BadInput(f"{what} was given without a device: name one, e.g. H100.")
        return (None if flops is None else flops_budget(flops)), None
    share = UTILISATION if utilisation is None else amount(utilisation, "The utilisation")
    machine = Machine(find_device(device), share, price)
    if hours is not None:
        return hours_budget(hours, machine), machine
    if money is not None:
        return money_budget(money, machine), machine
    return (None if flops is None else flops_budget(flops, machine)), machine
