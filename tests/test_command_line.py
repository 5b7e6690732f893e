"""The command line as a person uses it: a process, its output, its exit status."""

import json
import math
import os
import random
import socket
import sqlite3
import subprocess
import sys

import pytest

from explorer.runs import Store


def run(*arguments, **more):
    """Run the command; returns its exit status, output and error output."""
    done = subprocess.run(
        [sys.executable, "-m", "explorer.command_line", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        **more,
    )
    return done.returncode, done.stdout, done.stderr


def fails(*arguments, **more):
    """The one sentence that the command ends with; exit status 2, and no traceback."""
    code, _, said = run(*arguments, **more)
    assert code == 2, (code, said)
    assert "Traceback" not in said
    *progress, sentence = said.strip().splitlines()
    assert all("%" in line for line in progress), said
    return sentence


def test_list_tells_what_there_is_without_torch():
    code, out, _ = run("list", "--json")
    assert code == 0
    ladder = json.loads(out)[0]
    assert ladder["slug"] == "ladder"
    assert ladder["trials"][0]["name"] == "predict-bigger"
    assert ladder["trials"][0]["seconds"]["quick"] <= 20


def test_predict_takes_numbers_as_people_write_them():
    code, out, _ = run("predict", "ladder", "--set", "N=70B", "--set", "D=1.4T", "--json")
    assert code == 0
    told = json.loads(out)
    loss = next(one["value"] for one in told["readouts"] if one["label"] == "loss at (N, D)")
    assert loss == pytest.approx(1.9738819, abs=1e-7)
    assert "valleys" in told["figures"]
    assert "1.973882" in run("predict", "ladder")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["predict", "lader"], "Did you mean 'ladder'"),
        (["predict", "ladder", "--set", "gama=1"], "has no slider 'gama'"),
        (["predict", "ladder", "--set", "alpha=7"], "alpha = 7 is outside 0.05 to 1"),
        (["predict", "ladder", "--set", "alpha"], "it takes NAME=VALUE"),
        (["train", "ladder", "no-trial"], "It has: predict-bigger"),
        (["train", "ladder", "--size", "huge"], "It has: quick, default"),
        (["train", "ladder", "--quick", "--set", "corpus=/no/such"], "/no/such"),
        (["train", "ladder", "--quick", "--device", "cuda:9"], "cuda:9"),
        (["fit", "/no/such.csv"], "There is no file /no/such.csv"),
        (["app", "--port", "99999", "--no-browser"], "99999"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said, tmp_path):
    store = [] if arguments[0] in ("predict", "fit") else ["--store", tmp_path / "runs.sqlite"]
    assert said in fails(*arguments, *store)


def test_a_text_too_short_is_told(tmp_path):
    for name, text in (("empty.txt", ""), ("line.txt", "one line\n")):
        file = tmp_path / name
        file.write_text(text)
        said = fails(
            "train", "ladder", "--quick", "--set", f"corpus={file}", "--store", tmp_path / "s.sqlite"
        )
        assert name in said or "character" in said


def test_a_store_that_is_none_is_told_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but dear to somebody " * 40)
    before = text.read_bytes()
    assert str(text) in fails("runs", "list", "--store", text)
    assert str(text) in fails("train", "ladder", "--quick", "--store", text)
    assert text.read_bytes() == before
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE mine (a)")
    assert str(foreign) in fails("runs", "list", "--store", foreign)


def test_a_store_of_a_newer_version_is_told_and_left_alone(tmp_path):
    store = tmp_path / "newer.sqlite"
    Store(store).close()
    with sqlite3.connect(store) as newer:
        newer.execute("PRAGMA user_version = 999")
    newer.close()
    said = fails("runs", "list", "--store", store)
    assert "999" in said
    assert "999" in fails("train", "ladder", "--quick", "--store", store)
    with sqlite3.connect(store) as same:
        assert same.execute("PRAGMA user_version").fetchone() == (999,)


def test_a_folder_where_nothing_can_be_kept_is_told(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert "file" in fails("train", "ladder", "--quick", "--store", file / "runs.sqlite")
    assert "gone" in fails("train", "ladder", "--quick", "--store", tmp_path / "gone" / "runs.sqlite")


def test_a_port_in_use_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = fails(
            "app", "--no-browser", "--port", port, "--host", "127.0.0.1", "--store", tmp_path / "s.sqlite"
        )
    assert f"Port {port}" in said
    assert "--port" in said


def test_fit_prints_the_law(tmp_path):
    rows = ["params,tokens,loss"]
    for N in (1e6, 4e6, 16e6, 64e6):
        rows += [f"{N},{D},{1.7 + 400 / N**0.34 + 410 / D**0.28}" for D in (1e8, 4e8, 16e8, 64e8)]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(rows))
    code, out, _ = run("fit", table, "--json")
    assert code == 0
    found = json.loads(out)["coefficients"]
    assert found["alpha"] == pytest.approx(0.34, abs=1e-3)
    assert found["E"] == pytest.approx(1.7, abs=1e-3)
    assert "no law called 'chinchila'" in fails("fit", table, "--law", "chinchila")
    assert "lacks U" in fails("fit", table, "--law", "data-constrained")
    assert run("fit", table, "--law", "over-training")[0] == 0
    table.write_text("params,tokens,loss\n1e6,1e8,2.5\n2e6,x,2.4\n")
    assert "row 2, column tokens: 'x' is not a number" in fails("fit", table)


def test_fit_takes_a_formula_over_the_columns(tmp_path):
    rows = ["params,tokens,depth,loss"]
    for N in (1e6, 4e6, 16e6, 64e6):
        rows += [f"{N},{D},{N**0.25},{1.7 + 400 / N**0.34 + 410 / D**0.28}" for D in (1e8, 4e8, 16e8, 64e8)]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(rows))
    code, out, _ = run("fit", table, "--formula", "E + A/N^alpha + B/D^beta", "--json")
    assert code == 0
    found = json.loads(out)["coefficients"]
    assert found["alpha"] == pytest.approx(0.34, abs=1e-3)
    code, out, _ = run("fit", table, "--formula", "E + A/depth^a + B/tokens^b", "--json")
    assert code == 0, "columns go by their own names too"
    assert json.loads(out)["coefficients"]["a"] == pytest.approx(4 * 0.34, abs=1e-2)
    code, _, said = run("fit", table, "--formula", "E + A/N[1]")
    assert code == 2
    sentence, excerpt, caret = said.rstrip().splitlines()
    assert "(column 8)" in sentence
    assert excerpt[caret.index("^")] == "["
    assert "write N if n stands for it" in run("fit", table, "--formula", "E + A/n^alpha")[2]
    assert "choose one" in fails("fit", table, "--formula", "E + A/N", "--law", "kaplan")
    code, _, said = run("fit", table, "--formula", "__import__('os').remove('x') + N")
    assert code == 2
    assert said.startswith("__import__ cannot be")


def test_fit_tells_how_sure_it_is_and_how_laws_compare(tmp_path):
    dice = random.Random(0)
    rows = ["params,tokens,loss"]
    for N in (1e6, 2e6, 4e6, 8e6, 16e6, 32e6, 64e6):
        for D in (1e8, 4e8, 16e8, 64e8):
            rows.append(f"{N},{D},{(1.7 + 400 / N**0.34 + 410 / D**0.28) * math.exp(dice.gauss(0, 0.003))}")
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(rows))
    code, out, said = run("fit", table, "--against", "kaplan", "--fix", "alpha=0.34", "--json")
    assert code == 0, said
    told = json.loads(out)
    assert told["coefficients"]["alpha"] == 0.34
    low, high = told["intervals"]["beta"]
    assert low < told["coefficients"]["beta"] < high
    assert {score["name"] for score in told["comparison"]["scores"]} == {"chinchilla", "kaplan"}
    code, out, _ = run("fit", table, "--against", "kaplan", "--fix", "alpha=0.34")
    assert "held by --fix alpha" in out
    assert "starts reached the optimum" in out
    assert "no coefficient of the law" in fails("fit", table, "--fix", "gamma=1")
    assert "choose from huber" in fails("fit", table, "--penalty", "median")


def test_tables_of_a_run_are_printed(tmp_path):
    store = tmp_path / "runs.sqlite"
    code, out, _ = run("train", "mars-gamma", "chains", "--quick", "--store", store)
    assert code == 0
    assert "threshold" in out


def test_a_quick_training_prints_its_verdict_and_is_kept(tmp_path):
    store = tmp_path / "runs.sqlite"
    code, out, said = run(
        "train", "ladder", "predict-bigger", "--quick", "--set", "seeds=2", "--store", store, "--json"
    )
    assert code == 0, said
    told = json.loads(out)
    assert [one["name"] for one in told["agreements"]] == ["bigger-model", "most-compute"]
    for verdict in told["agreements"]:
        assert verdict["verdict"] in ("agrees", "disagrees", "too noisy to say")
        assert verdict["value"] > 0
    run_id = told["run"]["id"]
    assert run_id in run("runs", "list", "--store", store)[1]
    assert "sealed" in run("runs", "show", run_id, "--store", store)[1]
    assert "nothing" in fails("runs", "show", "nothing", "--store", store)
    export = tmp_path / "points.csv"
    assert run("runs", "export", run_id, export, "--store", store)[0] == 0
    assert len(export.read_text().splitlines()) == told["run"]["points"] + 1
    assert run("runs", "delete", run_id, "--yes", "--store", store)[0] == 0
    assert "No runs" in run("runs", "list", "--store", store)[1]


def test_doctor_looks_and_changes_nothing(tmp_path):
    store = tmp_path / "none.sqlite"
    code, out, _ = run("doctor", "--store", store, "--json")
    found = json.loads(out)
    assert code == 0, found["problems"]
    assert "cpu" in found["devices"]
    assert found["versions"]["torch"]
    assert not store.exists()
    assert "No problems found." in run("doctor", "--store", store)[1]


def test_without_a_store_there_is_nothing_to_list_and_nothing_is_made(tmp_path):
    home = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    for command in (["list"], ["show", "x"], ["export", "x", "x.csv"], ["delete", "x", "--yes"]):
        assert "There is no store" in fails("runs", *command, env=home)
    assert not (tmp_path / "data").exists()
    assert "There is no store" in fails("runs", "list", "--store", tmp_path / "mistyped.sqlite")
    assert not (tmp_path / "mistyped.sqlite").exists()
