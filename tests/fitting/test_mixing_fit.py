"""Fits of the laws of mixing: known coefficients come back, public tables give the errors that are known of them."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting.mixing import (
    fit_exponential,
    fit_linear,
    fit_mixing,
    mean_relative_error,
)
from explorer.laws import mixing
from explorer.laws.mixing import Coefficients
from explorer.simplex import lattice

EXAMPLE = Coefficients.of((0.3, 0.5, 0.8), (3, 2, 5), (0.3, 0.4, 0.5), (0.5, 1, 0.8), (1.5, 1, 0.7), 0.5)
SLIMPAJAMA = ("arxiv", "book", "c4", "github", "commoncrawl", "stackexchange", "wikipedia")


def made_up(noise=0.0, seed=0):
    """Losses of the example law over mixtures, sizes and tokens."""
    h = np.tile(0.05 + 0.85 * lattice(3, 3), (6, 1))
    N = np.repeat([20.0, 20, 60, 60, 180, 180], 10)
    D = np.repeat([5.0, 30] * 3, 10)
    exact = mixing.loss(h, N, D, EXAMPLE)
    return h, N, D, exact * np.exp(noise * np.random.default_rng(seed).standard_normal(exact.shape))


def explained(predicted, measured):
    """R^2 of each column."""
    return 1 - ((predicted - measured) ** 2).sum(axis=0) / ((measured - measured.mean(axis=0)) ** 2).sum(
        axis=0
    )


def test_a_law_without_noise_is_found():
    h, N, D, losses = made_up()
    fitted = fit_mixing(h, N, D, losses)
    assert fitted.mean_squared_error < 1e-8
    unseen = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    for n, d in ((40.0, 10.0), (400.0, 100.0)):
        assert fitted.predict(unseen, n, d) == pytest.approx(mixing.loss(unseen, n, d, EXAMPLE), rel=0.01)


def test_units_do_not_matter():
    h, N, D, losses = made_up(0.002)
    one, other = fit_mixing(h, N, D, losses), fit_mixing(h, N * 1e6, D * 1e9, losses)
    assert one.predict(h, N, D) == pytest.approx(other.predict(h, N * 1e6, D * 1e9), rel=1e-6)


def test_more_starts_never_fit_worse_and_all_are_told():
    h, N, D, losses = made_up(0.01)
    few, many = (fit_mixing(h[:10], N[:10], D[:10], losses[:10], starts=n) for n in (1, 8))
    assert len(many.starts) == 8
    assert many.starts == tuple(sorted(many.starts))
    assert many.mean_squared_error <= few.mean_squared_error * (1 + 1e-6)
    assert many.starts[-1] > 1.02 * many.starts[0]  # starts matter


def test_one_slice_leaves_the_coefficients_open_but_not_the_predictions():
    """Measured again with other noise of 0.2 %, the floors move far, the predictions hardly."""
    fits = []
    for seed in range(5):
        h, _, _, losses = made_up(0.002, seed)
        fits.append(fit_mixing(h[:10], 20.0, 5.0, losses[:10]))
    assert all(one.undetermined >= 1 for one in fits)
    assert "Sloppy" in fits[0].note
    unseen = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]])
    truth = mixing.loss(unseen, 20.0, 5.0, EXAMPLE)
    floors = np.array([one.coefficients.E for one in fits])
    assert np.ptp(floors, axis=0).max() > 0.5
    for one in fits:
        assert mean_relative_error(one.predict(unseen, 20.0, 5.0), truth) < 0.01


def test_what_was_not_measured_is_left_out():
    h, N, D, losses = made_up()
    losses[::3, 1] = np.nan
    fitted = fit_mixing(h, N, D, losses, starts=4)
    assert fitted.points == np.isfinite(losses).sum()
    assert mean_relative_error(fitted.predict(h, N, D), losses) < 1e-3


def test_exponential_and_linear_laws_are_found():
    r = np.concatenate([lattice(3, 4), [[0.2, 0.3, 0.5]]])
    c, t = np.array([1.0, 2.0]), np.array([[-2.0, 0.3, 0.1], [0.2, -1.5, 0.4]])
    losses = c + np.exp(r @ t.T)
    assert fit_exponential(r, losses).predict(r) == pytest.approx(losses, rel=1e-5)
    slope = np.array([[-1.0, 0.5, 0.2]])
    line = 3.0 + r @ slope.T
    assert fit_linear(r[:6], line[:6]).predict(r) == pytest.approx(line, rel=1e-9)


def test_relative_error_of_active_entries():
    predicted, measured = np.array([[1.1, 2.0]]), np.array([[1.0, 1.0]])
    assert mean_relative_error(predicted, measured) == pytest.approx(0.55)
    assert mean_relative_error(predicted, measured, np.array([[0.95, 0.05]]), 0.1) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"h": np.ones((3, 1)), "loss": np.ones((3, 1))}, "One domain cannot be mixed"),
        ({"loss": np.ones((3, 2))}, "the loss of every domain that is mixed"),
        ({"loss": np.ones((2, 3))}, "one row for every run"),
        ({"h": np.array([[-0.1, 0.6, 0.5]] * 3)}, "A weight is negative"),
        ({"loss": np.zeros((3, 3))}, "A loss is not above zero"),
        ({"N": 0.0}, "N has a value that is not a finite number above zero"),
        ({"D": [1.0, 2.0]}, "D has to be one number"),
        ({"loss": np.array([[1.0, 1.0, np.nan]] * 3)}, "Domain 3 has fewer than two measured losses"),
        ({"starts": 0}, "0 starts fit nothing"),
    ],
)
def test_nonsense_is_told_in_a_sentence(change, sentence):
    given = {"h": np.full((3, 3), 1 / 3), "N": 10.0, "D": 1.0, "loss": np.ones((3, 3)), "starts": 1}
    with pytest.raises(BadInput, match=sentence):
        fit_mixing(**{**given, **change})


# -- public tables


@pytest.fixture
def slimpajama(table):
    """Weights, M parameters, B tokens and losses of seven domains, over 61 mixtures and six sizes."""
    columns = table("mixture_slimpajama7/slimpajama7_runs.csv")

    def numbers(name):
        column = columns[name]
        return column if column.dtype == float else np.array([float(v) if v else np.nan for v in column])

    h = np.column_stack([numbers(f"weight_{name}") for name in SLIMPAJAMA])
    losses = np.column_stack([numbers(f"{name}_loss") for name in SLIMPAJAMA])
    return h, numbers("params") / 1e6, numbers("tokens") / 1e9, losses


def test_one_slice_of_slimpajama(slimpajama):
    """The law's own protocol: entries with a weight of at least 0.1, and four mixtures of five to fit."""
    h, N, D, losses = slimpajama
    rows = np.flatnonzero((N == 122) & (np.abs(D - 10) < 0.1))
    assert len(rows) == 60
    active, everywhere, all_fitted, exponential, mean = [], [], [], [], []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(rows)
        seen, held = order[:48], order[48:]

        def error(predicted, held=held, active=0.0):
            return mean_relative_error(predicted, losses[held], h[held], active)

        fitted = fit_mixing(h[seen], N[seen], D[seen], losses[seen], active=0.1)
        predicted = fitted.predict(h[held], N[held], D[held])
        train = mean_relative_error(fitted.predict(h[seen], N[seen], D[seen]), losses[seen], h[seen], 0.1)
        assert train < 0.0085
        active.append(error(predicted, active=0.1))
        everywhere.append(error(predicted))
        whole = fit_mixing(h[seen], N[seen], D[seen], losses[seen])
        all_fitted.append(error(whole.predict(h[held], N[held], D[held])))
        exponential.append(error(fit_exponential(h[seen], losses[seen]).predict(h[held])))
        mean.append(error(np.broadcast_to(np.nanmean(losses[seen], axis=0), predicted.shape)))
    assert np.mean(active) == pytest.approx(0.0087, abs=0.0015)
    # What was not fitted is not known: the error where weights are small depends on where the fit happens to stop.
    assert min(np.array(everywhere) / active) > 2
    assert np.mean(all_fitted) == pytest.approx(0.0113, abs=0.002)
    # For one slice the exponential law, with 56 numbers for 36, is the better one.
    assert np.mean(exponential) == pytest.approx(0.0051, abs=0.001)
    assert np.mean(mean) == pytest.approx(0.0395, abs=0.003)


def test_small_models_overestimate_large_ones(slimpajama):
    """Fitted to 300 runs of 122 M to 680 M: the ranking of mixtures carries over to larger models, not the level."""
    from scipy.stats import spearmanr

    h, N, D, losses = slimpajama
    late = D >= 6
    rows = np.random.default_rng(0).choice(np.flatnonzero((N <= 680) & late), 300, replace=False)
    fitted = fit_mixing(h[rows], N[rows], D[rows], losses[rows], starts=4)
    train = mean_relative_error(fitted.predict(h[rows], N[rows], D[rows]), losses[rows])
    assert train == pytest.approx(0.025, abs=0.002)
    errors, biases = [], []
    for size in (937, 1235, 2718):
        far = (size == N) & late
        predicted = fitted.predict(h[far], N[far], D[far])
        errors.append(mean_relative_error(predicted, losses[far]))
        biases.append(np.nanmean(predicted - losses[far]))
    assert errors == pytest.approx([0.045, 0.056, 0.112], abs=0.006)
    assert biases == pytest.approx([0.064, 0.105, 0.21], abs=0.02)
    end = 0.999 * D[N == 1235].max()
    last = (N == 1235) & (end < D)
    rank = spearmanr(fitted.predict(h[last], 1235, D[last]).mean(axis=1), np.nanmean(losses[last], axis=1))
    assert rank.statistic > 0.7


def ye(shared_data, experiment, size, step, order):
    """Mixtures (n, K), and a table of losses by mixture and evaluated domain."""
    pd = pytest.importorskip("pandas")
    folder = shared_data / "mixture_mixinglaws"
    runs = pd.read_parquet(folder / "losses.parquet")
    runs = runs[(runs["experiment"] == experiment) & (runs["params_label"] == size) & (runs["step"] == step)]
    losses = runs.pivot_table(index="mixture", columns="eval_domain", values="loss")
    weights = pd.read_csv(folder / "mixtures.csv")
    weights = weights[weights["experiment"] == experiment]
    weights = weights.pivot_table(index="mixture", columns="train_domain", values="weight")
    return weights.loc[losses.index][order].to_numpy(), losses


def test_exponential_law_on_three_domains(shared_data):
    order = ["Github", "Books3", "Pile-CC"]
    r, losses = ye(shared_data, "3Mix", "410M", 60_000, order)
    assert len(r) == 32
    y = losses[order].to_numpy()
    assert explained(fit_exponential(r, y).predict(r), y) == pytest.approx([0.935, 0.938, 0.984], abs=1e-3)


def test_exponential_law_on_five_groups_of_domains(shared_data, table):
    groups = ["academic", "prose", "dialogue", "symbolic", "internet"]
    r, losses = ye(shared_data, "5Mix", "70M", 30_000, groups)
    assert len(r) == 26
    evaluated = table("mixture_mixinglaws/eval_domains.csv")
    y = []
    for group in groups:
        inside = evaluated["group"] == group
        weight = evaluated["pile_valid_weight"][inside]
        y.append(losses[list(evaluated["eval_domain"][inside])].to_numpy() @ weight / weight.sum())
    y = np.array(y).T
    found = explained(fit_exponential(r, y).predict(r), y)
    assert found == pytest.approx([0.986, 0.971, 0.969, 0.996, 0.987], abs=1.1e-3)


def test_a_straight_line_ranks_mixtures_across_sizes(table):
    runs = table("mixture_regmix/regmix_runs.csv")
    from scipy.stats import spearmanr

    r = np.column_stack([column for name, column in runs.items() if name.startswith("w_")])
    y = runs["loss_pile_cc"]
    seen = runs["split"] == "train"
    line = fit_linear(r[seen], y[seen, None])
    for size, expected in (("1M", 0.902), ("60M", 0.893), ("1B", 0.877)):
        rows = (runs["split"] == "test") & (runs["model"] == size)
        rank = spearmanr(line.predict(r[rows])[:, 0], y[rows]).statistic
        assert rank == pytest.approx(expected, abs=6e-4)
