"""Accelerators and what they can do at most: peak FLOP/s of dense bfloat16, as their makers publish it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from explorer.errors import BadInput


@dataclass(frozen=True)
class Device:
    """One accelerator.

    Args:
        name: what a person reads, e.g. "H100 SXM".
        peak: FLOP/s in dense bfloat16; figures with sparsity are twice as high and not meant here.
        source: where the peak is published.
        short: other names it goes by.
    """

    name: str
    peak: float
    source: str
    short: tuple[str, ...] = ()


DEVICES: dict[str, Device] = {
    each.name: each
    for each in (
        Device("A100", 312e12, "NVIDIA A100 data sheet", ("A100 SXM", "A100 PCIe", "A100 80GB", "A100 40GB")),
        Device("H100 SXM", 989e12, "NVIDIA H100 data sheet", ("H100", "H100 SXM5", "H100 80GB")),
        Device("H100 PCIe", 756e12, "NVIDIA H100 data sheet"),
        Device("H200", 989e12, "NVIDIA H200 data sheet", ("H200 SXM",)),
        Device("B200", 2.25e15, "NVIDIA Blackwell data sheet", ("B200 SXM",)),
        Device("L40S", 362e12, "NVIDIA L40S data sheet"),
        Device("RTX 4090", 165e12, "NVIDIA Ada GPU architecture white paper", ("4090",)),
        Device("MI250X", 383e12, "AMD Instinct MI250X data sheet"),
        Device("MI300X", 1307e12, "AMD Instinct MI300X data sheet"),
        Device("TPU v4", 275e12, "Google Cloud TPU documentation"),
        Device("TPU v5e", 197e12, "Google Cloud TPU documentation", ("TPU v5 lite",)),
        Device("TPU v5p", 459e12, "Google Cloud TPU documentation"),
        Device("TPU v6e", 918e12, "Google Cloud TPU documentation", ("Trillium",)),
    )
}
"""Every device of the table, by name."""


def find_device(name: str) -> Device:
    """The device called `name`; case, blanks and hyphens do not matter, nor does the maker's name.

    Raises:
        BadInput: there is none; the sentence tells near names.
    """
    known = {_plain(word): device for device in DEVICES.values() for word in (device.name, *device.short)}
    plain = _plain(str(name))
    plain = plain if plain in known or f"tpu{plain}" not in known else f"tpu{plain}"
    if plain not in known:
        near = dict.fromkeys(known[word].name for word in get_close_matches(plain, known, 4, 0.5))
        told = f"Did you mean {' or '.join(near)}? " if near else ""
        raise BadInput(f"There is no device {name!r} in the table. {told}It has: {', '.join(DEVICES)}.")
    return known[plain]


def _plain(name: str) -> str:
    return re.sub(r"^(nvidia|amd|google|geforce|instinct|cloud)+", "", re.sub(r"[\s_-]+", "", name.lower()))
