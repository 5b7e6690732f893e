"""The table of devices and how it is looked up."""

import pytest

from explorer.errors import BadInput
from explorer.planning import DEVICES, find_device


@pytest.mark.parametrize(
    ("name", "found", "peak"),
    [
        ("A100", "A100", 312e12),
        ("h100", "H100 SXM", 989e12),
        ("H100-SXM", "H100 SXM", 989e12),
        ("NVIDIA H100 PCIe", "H100 PCIe", 756e12),
        ("H200", "H200", 989e12),
        ("b200", "B200", 2.25e15),
        ("l40s", "L40S", 362e12),
        ("4090", "RTX 4090", 165e12),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", 165e12),
        ("AMD Instinct MI300X", "MI300X", 1307e12),
        ("v5p", "TPU v5p", 459e12),
        ("TPU-v5e", "TPU v5e", 197e12),
        ("trillium", "TPU v6e", 918e12),
    ],
)
def test_names_as_people_write_them(name, found, peak):
    device = find_device(name)
    assert device.name == found
    assert device.peak == peak
    assert device.source


def test_every_name_finds_its_own_device():
    for device in DEVICES.values():
        for name in (device.name, *device.short):
            assert find_device(name) is device


@pytest.mark.parametrize(("name", "near"), [("H1000", "H100 SXM"), ("A10", "A100"), ("TPU v5", "TPU v5")])
def test_an_unknown_device_is_told_with_near_names(name, near):
    with pytest.raises(BadInput, match=f"no device '{name}'.*Did you mean.*{near}"):
        find_device(name)


def test_a_name_near_none_is_told_the_table():
    with pytest.raises(BadInput, match=r"in the table\. It has: A100, H100 SXM"):
        find_device("abacus")
