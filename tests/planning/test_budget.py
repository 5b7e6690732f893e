"""Budgets: FLOPs, device-hours, money; what each needs, and what is refused."""

import math

import pytest

from explorer.errors import BadInput
from explorer.planning import Machine, flops_budget, hours_budget, money_budget, read_budget
from explorer.planning.budget import amount


def test_flops_as_people_write_them():
    assert flops_budget(5.76e23).flops == 5.76e23
    assert flops_budget("5.76e23").flops == 5.76e23
    assert flops_budget(" 5.76e23 FLOPs").flops == 5.76e23
    assert flops_budget("1e20flop").text == "1e20 FLOPs"
    assert flops_budget("100 PF-days").flops == pytest.approx(8.64e21, rel=1e-15)


def test_hours_times_peak_times_utilisation():
    budget = hours_budget("1e4", Machine("H100"))
    assert budget.flops == pytest.approx(1e4 * 3600 * 989e12 * 0.4, rel=1e-15)
    assert budget.text == "10,000 H100 SXM-hours"
    assert budget.machine.hours(budget.flops) == pytest.approx(1e4, rel=1e-15)
    assert budget.machine.cost(budget.flops) is None
    assert hours_budget(1, Machine("A100", 1.0)).flops == 3600 * 312e12


def test_money_buys_hours():
    machine = Machine("H100", utilisation=0.5, price=2.0)
    budget = money_budget("1M", machine)
    assert budget.flops == pytest.approx(5e5 * 3600 * 989e12 * 0.5, rel=1e-15)
    assert machine.cost(budget.flops) == pytest.approx(1e6, rel=1e-15)


def test_one_reader_for_all():
    assert read_budget() == (None, None)
    budget, machine = read_budget(flops="1e21")
    assert (budget.flops, machine) == (1e21, None)
    budget, machine = read_budget(flops=1e21, device="H100", price=3)
    assert budget.machine is machine
    assert machine.cost(machine.flops_per_hour) == 3
    for hours in ("1e4 H100-hours", "1e4 h100 hours", "10,000 H100-hours", "1e4 H100-hour"):
        budget, machine = read_budget(hours=hours)
        assert budget.text == "10,000 H100 SXM-hours"
        assert machine.utilisation == 0.4
    assert read_budget(hours="50 GPU-hours", device="A100")[0].text == "50 A100-hours"
    assert read_budget(hours="50 TPU v5p-hours")[0].machine.device.name == "TPU v5p"
    assert read_budget(money=100, device="L40S", price=1)[0].flops == pytest.approx(100 * 3600 * 362e12 * 0.4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"flops": 1e20, "hours": 5}, "FLOPs and in device-hours: give one"),
        ({"hours": 5, "money": 5}, "device-hours and in money: give one"),
        ({"flops": 0}, "The budget in FLOPs is 0: give a finite number above zero"),
        ({"flops": -1e20}, "is -1e.20: give a finite number above zero"),
        ({"flops": math.nan}, "is nan: give a finite number above zero"),
        ({"flops": math.inf}, "is inf: give a finite number"),
        ({"flops": "lots"}, "is 'lots', which is not a number: write it like"),
        ({"flops": "1e999"}, "which is not a number"),
        ({"flops": None, "hours": 5}, "without a device: name one"),
        ({"hours": "1e4 X9000-hours"}, "no device 'X9000'"),
        ({"hours": "1e4 H100-hours", "device": "A100"}, "Hours of H100 SXM and the device A100"),
        ({"hours": "many", "device": "A100"}, "device-hours is 'many'"),
        ({"hours": 0, "device": "A100"}, "device-hours is 0"),
        ({"money": 5}, "money was given without a device"),
        ({"money": 5, "device": "A100"}, "without a price: give the price of a device-hour"),
        ({"money": -5, "device": "A100", "price": 1}, "in money is -5"),
        ({"flops": 1e20, "device": "A100", "price": 0}, "price of a device-hour is 0"),
        ({"flops": 1e20, "price": 1}, "A price was given without a device"),
        ({"flops": 1e20, "utilisation": 0.5}, "A utilisation was given without a device"),
        ({"flops": 1e20, "device": "A100", "utilisation": 0}, "The utilisation is 0"),
        ({"flops": 1e20, "device": "A100", "utilisation": 1.2}, "The utilisation is 1.2: give the share"),
        ({"flops": 1e20, "device": "A100", "utilisation": "nan"}, "which is not a number"),
        ({"flops": 1e20, "device": "A100", "utilisation": math.nan}, "is nan"),
        ({"flops": 1e20, "device": "Z80"}, "no device 'Z80'"),
    ],
)
def test_what_is_refused(given, said):
    with pytest.raises(BadInput, match=said) as refused:
        read_budget(**given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [None, [1, 2], object(), 10**400, "", "7x"])
def test_what_is_no_amount(value):
    with pytest.raises(BadInput, match="The thing is"):
        amount(value, "The thing")
