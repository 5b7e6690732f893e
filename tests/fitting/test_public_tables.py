"""Public tables of runs, fitted to the numbers and errors that are known of them.

The Chinchilla points, the data-constrained runs and the over-training exponents stand in test_published_fits.py.
"""

import csv

import numpy as np
import pytest

from explorer.fitting import fit, profile
from explorer.laws import Coefficient, Law, law, published

LEAST_SQUARES = 1e3


@pytest.fixture
def read(shared_data):
    """Reads a table; a blank is NaN in a column of numbers."""

    def columns(name):
        with (shared_data / name).open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        found = {}
        for key in rows[0]:
            try:
                found[key] = np.array([float(row[key] or "nan") for row in rows])
            except ValueError:
                found[key] = np.array([row[key] for row in rows])
        return found

    return columns


def chinchilla(N, D, loss, delta=1e-3, **options):
    """The fit, and the relative errors of its losses."""
    known = np.isfinite(loss)
    variables = {"N": N[known], "D": D[known]}
    found = fit(law("chinchilla"), variables, loss[known], delta=delta, **options)
    return found, np.abs(found.predict(variables) / loss[known] - 1)


def expect(found, **values):
    """Coefficients to the digits they are known to: half a unit of the last one, and a little."""
    for name, text in values.items():
        digits = len(text.partition(".")[2])
        assert found.coefficients[name] == pytest.approx(float(text), abs=0.75 * 10.0**-digits), name


@pytest.mark.parametrize(
    ("experiment", "alpha", "beta", "E"),
    [
        ("epochai_chinchilla__massivetext__chinchilla", "0.344", "0.401", "1.832"),
        ("ml_scalefit__massivetext__chinchilla", "0.348", "0.407", "1.851"),
        ("llama_3__exp_loss", "0.332", "0.373", None),
        ("marin_202603__comma__llama_2", "0.710", "0.349", None),
        ("marin_202603__dclm__llama_2", "0.683", "0.397", None),
        ("marin_202603__nemotron__llama_2", "0.662", "0.396", None),
        ("misfitting__fineweb_c4__transformer", "0.669", "0.692", None),
    ],
)
def test_isoflops_of_five_studies(read, experiment, alpha, beta, E):
    table = read("isoflop_collection/isoflops.csv")
    rows = (table["experiment"] == experiment) & (table["outlier"] == "False")
    found, error = chinchilla(table["params"][rows], table["tokens"][rows], table["loss"][rows])
    expect(found, alpha=alpha, beta=beta, **({"E": E} if E else {}))
    assert np.mean(error) < 0.006


def test_choices_move_the_misfitting_exponents(read):
    table = read("misfitting_survey/checkpoints.csv")
    done = table["portion_steps_elapsed"]
    N, D, loss = table["params"], table["tokens"], table["loss"]
    final = np.flatnonzero(done >= 0.999)
    best = {}
    for row in final[np.argsort(loss[final])]:
        best.setdefault((N[row], D[row]), row)
    best = np.array(list(best.values()))
    assert (len(final), len(best), int(np.sum(done >= 0.1))) == (263, 82, 4478)
    shares = []
    for rows, alpha, beta, E in (
        (best, "0.130", "0.670", "1.31"),
        (final, "0.192", "0.636", "1.77"),
        (np.flatnonzero(done >= 0.1), "0.417", "0.609", "2.41"),
    ):
        found, _ = chinchilla(N[rows], D[rows], loss[rows])
        expect(found, alpha=alpha, beta=beta, E=E)
        shares.append(found.coefficients["beta"] / (found.coefficients["alpha"] + found.coefficients["beta"]))
    found, _ = chinchilla(table["params_non_emb"][best], D[best], loss[best])
    assert found.coefficients["E"] < 1e-3
    assert any(note.name == "bound" for note in found.notes)
    shares.append(found.coefficients["beta"] / (found.coefficients["alpha"] + found.coefficients["beta"]))
    assert (min(shares), max(shares)) == pytest.approx((0.59, 0.93), abs=0.006)


@pytest.mark.parametrize(
    ("dataset", "alpha", "beta", "E", "there"),
    [
        ("isoflop_llama_ctx2048", "0.645", "0.903", "2.55", None),
        ("isoflop_llama_ctx16384", "0.715", "1.034", "2.70", (3.248, 2.997, 2.935)),
        ("isoflop_mlstm_ctx16384", "0.624", "0.887", "2.51", (3.236, 2.945, 2.852)),
    ],
)
def test_xlstm_and_llama_isoflops(read, dataset, alpha, beta, E, there):
    table = read("xlstm_isoflop/runs.csv")
    rows = (table["dataset"] == dataset) & (table["val_loss"] < 6)  # diverged runs have 7 and more
    found, error = chinchilla(table["params"][rows], table["tokens"][rows], table["val_loss"][rows])
    expect(found, alpha=alpha, beta=beta, E=E)
    assert np.median(error) < 0.00225
    share = found.coefficients["beta"] / (found.coefficients["alpha"] + found.coefficients["beta"])
    assert 0.58 <= share <= 0.5915
    if there:
        predicted = found.predict({"N": [2e8, 4e8, 8e8], "D": [4e9, 8e9, 8e9]})
        assert predicted == pytest.approx(there, abs=1e-3)


@pytest.mark.parametrize("which", ["hot", "hot_100b+", "lr_ablation_hot"])
def test_gemstones_leave_beta_open(read, which):
    table = read("gemstones/runs.csv")
    rows = table["set"] == which
    found, error = chinchilla(table["params"][rows], table["tokens"][rows], table["loss"][rows])
    assert 0.255 < found.coefficients["alpha"] < 0.335
    assert 0.585 < found.coefficients["beta"] < 0.735
    assert 1.9 < found.coefficients["E"] < 2.25
    assert 0.005 < np.median(error) < 0.006
    assert any(note.name == "loose" and "B only within" in note for note in found.notes)


@pytest.mark.parametrize(
    ("scheduler", "prefix", "count", "alpha", "beta", "E", "worst"),
    [
        ("cos", "sl", 24, "0.127", "0.261", "1.07", 0.0045),
        ("wsd", "ann0.2", 16, "0.137", "0.273", "1.26", 0.0046),
    ],
)
def test_cosine_runs_and_cooldowns(read, scheduler, prefix, count, alpha, beta, E, worst):
    table = read("lr_schedule_curves/runs.csv")
    rows = (table["scheduler"] == scheduler) & (table["dataset"] == "slimpajama")
    rows &= np.char.startswith(table["prefix"], prefix)
    assert rows.sum() == count
    found, error = chinchilla(
        table["params"][rows], table["tokens"][rows], table["final_val_loss"][rows], LEAST_SQUARES
    )
    expect(found, alpha=alpha, beta=beta, E=E)
    assert error.max() < worst + 5e-5


def test_best_cells_of_the_step_law_grids(read):
    table = read("steplaw_lr_bs/dense_lr_bs_loss.csv")
    best = {}
    for row in np.argsort(table["smooth_loss"]):
        best.setdefault((table["params_nonemb"][row], table["tokens"][row]), row)
    rows = np.array(list(best.values()))
    assert len(rows) == 17
    found, error = chinchilla(
        table["params_nonemb"][rows], table["tokens"][rows], table["smooth_loss"][rows], LEAST_SQUARES
    )
    expect(found, alpha="0.237", beta="0.306", E="1.427")
    assert error.max() < 0.007


@pytest.mark.parametrize(
    ("column", "known", "tolerance", "fit_error"),
    [
        ("loss_c4_en", (2.449, 2.380), 0.002, 0.0027),
        ("bpb_hellaswag_val", (0.667, 0.649), 0.001, None),
        ("bpb_piqa_val", (0.892, 0.878), 0.002, None),
        ("bpb_arc_challenge_val", (0.722, 0.712), 0.007, None),
    ],
)
def test_olmo_ladder_predicts_its_targets(read, column, known, tolerance, fit_error):
    table, targets = read("olmo_ladder/ladder_curves.csv"), read("olmo_ladder/targets.csv")
    rows = []
    for run in np.unique(table["run"]):
        of_run = np.flatnonzero(table["run"] == run)
        last = of_run[np.argmax(table["step"][of_run])]
        if (
            table["model"][last] != "3B"
            and table["chinchilla_mult"][last] in (1, 2, 5, 10)
            and not table["rerun"][last]
        ):
            rows.append(last)
    assert len(rows) == 16
    found, error = chinchilla(
        table["params"][rows], table["tokens"][rows], table[column][rows], LEAST_SQUARES
    )
    predicted = found.predict({"N": targets["params"], "D": targets["tokens"]})
    assert predicted == pytest.approx(known, abs=tolerance)
    if fit_error:
        assert np.mean(error) < fit_error + 5e-5
        expect(found, alpha="0.21", beta="0.12", E="1.53")


@pytest.mark.parametrize(
    ("corpus", "largest", "rest"),
    [("c4_original", 0.076, 0.028), ("rpj", 0.028, 0.028), ("rw_original", 0.028, 0.028)],
)
def test_over_training_predicts_models_three_times_as_large(read, corpus, largest, rest):
    table = read("gadre_overtraining/runs.csv")
    rows = table["train_data"] == corpus
    N, D, loss = (table[key][rows] for key in ("params", "tokens", "loss_c4_val"))
    variables = {"C": 6 * N * D, "M": D / N}
    small = N < 5e8
    found = fit(
        law("over-training"), {name: column[small] for name, column in variables.items()}, loss[small]
    )
    error = np.abs(found.predict(variables) / loss - 1)
    assert error[N > 5e9].max() < largest
    assert error[(N > 5e8) & (N < 5e9)].max() < rest
    assert len(error[~small]) == 3


def test_repetition_constants_are_open_without_the_most_repeated_runs(read):
    """With fewer than 60 epochs only, R_D runs away; the profile says so."""
    table = read("data_constrained/datablations_c4.csv")
    rows = (table["in_published_fit"] == 1) & (table["epochs"] < 60)
    variables = {
        name: table[key][rows] for name, key in (("N", "params"), ("D", "tokens"), ("U", "unique_tokens"))
    }
    constants = published.DATA_CONSTRAINED["muennighoff-c4"].coefficients
    base = {name: constants[name] for name in ("E", "A", "B", "alpha", "beta")}
    found = fit(law("data-constrained"), variables, table["loss"][rows], fixed=base)
    assert found.coefficients["R_D"] > 100
    interval = profile(found, "R_D")
    assert interval.open_above
    assert interval.lower < constants["R_D"]


def test_porian_exponents(read):
    """N* = k C^a through the optimal pairs of 15 experiments, by least squares of ln N*."""
    power = Law(
        name="power",
        title="",
        variables=("C",),
        coefficients=(Coefficient("k", 1e-3, 1e-20, 1e20, log=True), Coefficient("a", 0.5, 0.0, 2.0)),
        function=lambda C, k, a: k * C**a,
        source="",
        validity="",
        starts=lambda variables, loss, fixed: {"k": np.array([1e-2, 1e-6]), "a": np.array([0.5, 0.8])},
    )
    pairs, stored = (
        read("porian_discrepancies/optimal_pairs.csv"),
        read("porian_discrepancies/fits_published.csv"),
    )
    key = ("dataset", "hparams", "warmup", "decay", "param_count", "val", "source")
    exponents = []
    for row in range(15):
        rows = np.all([pairs[name] == stored[name][row] for name in key], axis=0) & np.isfinite(pairs["n"])
        found = fit(power, {"C": pairs["flops"][rows]}, pairs["n"][rows], delta=LEAST_SQUARES)
        exponents.append(found.coefficients["a"])
    assert exponents == pytest.approx(stored["n_exponent"], abs=1e-5)
    # The chain that the table's text prints; the published one weights the pairs by their errors.
    assert exponents[:5] == pytest.approx([0.8338, 0.7009, 0.6035, 0.5714, 0.4970], abs=6e-5)
    chain = [exponent.a for exponent in published.PORIAN_EXPONENTS["refinedweb"].values()]
    assert exponents[:5] == pytest.approx(chain, abs=0.006)
