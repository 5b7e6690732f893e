"""The command `plan` as a person uses it."""

import json
import math
import subprocess
import sys

import pytest

from explorer import command_line
from explorer.laws import law


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command in this process; returns exit status, output and error output."""
    monkeypatch.setattr(command_line, "keep_log", lambda: None)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            command_line.main(["plan", *map(str, arguments)])
        out, said = capsys.readouterr()
        return ended.value.code or 0, out, said

    return call


def numbers(run, *arguments):
    code, out, said = run(*arguments, "--json")
    assert code == 0, said
    return json.loads(out)


def test_the_published_optimum(run):
    found = numbers(run, "--flops", "5.76e23")
    assert found["law"] == "besiroglu"
    assert found["N"] == pytest.approx(7.224870e10, rel=1e-7)
    assert found["D"] == pytest.approx(1.328744e12, rel=5e-7)
    assert found["tokens_per_parameter"] == pytest.approx(18.391245, rel=1e-7)
    assert found["loss"] == pytest.approx(1.974441, abs=5e-7)
    assert len(found["opinions"]) == 5
    for name in ("hoffmann", "hoffmann-printed"):
        found = numbers(run, "--flops", "5.76e23", "--law", name)
        assert found["N"] == pytest.approx(3.218986e10, rel=1e-6)
        assert found["D"] == pytest.approx(2.982306e12, rel=1e-6)
        assert found["loss"] == pytest.approx(1.930748, abs=5e-7)
        assert [one["name"] for one in found["opinions"]] == ["hoffmann"]


def test_text_for_people(run):
    code, out, _ = run("--flops", "5.76e23")
    assert code == 0
    for part in ("7.22487e+10", "1.328744e+12", "18.3912", "1.974441", "N = 70B", "hoffmann-unrounded"):
        assert part in out
    assert max(len(line) for line in out.splitlines() if not line.startswith("- ")) <= 120


def test_every_option_reaches_the_plan(run):
    hours = numbers(run, "--gpu-hours", "1e4 H100-hours", "--price", "2")
    assert hours["flops"] == pytest.approx(1e4 * 3600 * 989e12 * 0.4)
    assert hours["cost"] == pytest.approx(20_000)
    money = numbers(run, "--budget", "20k", "--device", "h100", "--price", "2", "--mfu", "0.4")
    assert money["N"] == pytest.approx(hours["N"])
    assert numbers(run, "--gpu-hours", "1e4", "--device", "H100", "--mfu", "0.5")["flops"] > hours["flops"]
    assert numbers(run, "--flops", "1e22", "--params", "7B")["N"] == 7e9
    assert numbers(run, "--flops", "1e22", "--tokens", "1T")["D"] == 1e12
    scarce = numbers(run, "--flops", "1e22", "--tokens-available", "10B")
    assert scarce["epochs"] == pytest.approx(scarce["D"] / 1e10)
    busy = numbers(run, "--loss", "2.2", "--inference-tokens", "1T", "--account", "head")
    assert busy["goal"] == "least compute"
    assert busy["account"] == "6ND + head"
    assert busy["serving_flops"] > 0
    several = numbers(run, "--flops", "1e22", "--law", "beck-transformer", "--law", "kaplan")
    assert [one["name"] for one in several["opinions"]] == ["beck-transformer", "kaplan"]


def test_a_table_of_runs_gives_intervals(run, tmp_path):
    numbers_of = law("chinchilla").defaults
    rows = ["params,tokens,loss"]
    for k, N in enumerate((1e7, 3e7, 1e8, 3e8, 1e9)):
        for m, D in enumerate((1e9, 3e9, 1e10, 3e10)):
            loss = float(law("chinchilla").predict({"N": N, "D": D}, **numbers_of))
            rows.append(f"{N},{D},{loss * math.exp(0.003 * math.sin(7 * k + 3 * m * m))}")
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(rows))
    found = numbers(run, "--flops", "1e21", "--runs", table)
    assert found["law"] == "chinchilla"
    assert found["N_interval"][0] < found["N"] < found["N_interval"][1]
    assert found["loss_interval"][0] < found["loss"] < found["loss_interval"][1]
    assert {one["name"]: one["ratio"] for one in found["reach"]}["N"] == pytest.approx(found["N"] / 1e9)
    several = numbers(run, "--flops", "1e21", "--runs", table, "--law", "chinchilla", "--law", "kaplan")
    assert several["spread"]["N"][0] < several["spread"]["N"][1]
    code, _, said = run("--flops", "1e21", "--runs", table, "--law", "besiroglu")
    assert code == 2
    assert "There is no law called 'besiroglu'" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "No budget was given"),
        (["--flops", "1e22", "--gpu-hours", "5", "--device", "H100"], "FLOPs and in device-hours: give one"),
        (["--flops", "1e22", "--loss", "2"], "give one of them"),
        (["--flops", "0"], "is 0: give a finite number above zero"),
        (["--flops", "-1e22"], "above zero"),
        (["--flops", "nan"], "is 'nan', which is not a number"),
        (["--flops", "1e10"], "smallest run that the law 'besiroglu' rests on"),
        (["--gpu-hours", "5"], "without a device"),
        (["--gpu-hours", "5", "--device", "H101"], "Did you mean H100 SXM"),
        (["--gpu-hours", "5", "--device", "H100", "--mfu", "1.5"], "The utilisation is 1.5"),
        (["--gpu-hours", "5", "--device", "H100", "--mfu", "0"], "The utilisation is 0"),
        (["--budget", "1e6", "--device", "H100"], "without a price"),
        (["--budget", "1e6", "--device", "H100", "--price", "0"], "price of a device-hour is 0"),
        (["--flops", "1e22", "--tokens-available", "0"], "tokens available is 0"),
        (["--flops", "1e22", "--law", "chinchila"], "no published constants 'chinchila'"),
        (["--flops", "1e22", "--account", "7ND"], "not counted as '7ND'"),
        (["--flops", "1e22", "--runs", "/no/such.csv"], "There is no file /no/such.csv"),
    ],
)
def test_bad_input_is_one_sentence(run, arguments, said):
    code, out, told = run(*arguments)
    assert code == 2
    assert out == ""
    assert said in told
    assert len(told.strip().splitlines()) == 1
    assert "Traceback" not in told


def test_planning_imports_no_torch_and_draws_nothing():
    code = (
        "import sys; from explorer.planning import plan; plan(1e22); "
        "print([one for one in ('torch', 'panel', 'bokeh', 'scipy') if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
