"""The MARS exhibit: what its sliders draw, its verdicts on made-up measurements, and a real training in seconds."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.exhibits import Surface, find
from explorer.exhibits.lesson import read_lesson
from explorer.exhibits.mars_gamma import order
from explorer.exhibits.mars_gamma.experiment import chains, run
from explorer.exhibits.mars_gamma.outcome import Outcome
from explorer.exhibits.mars_gamma.sizes import CHAINS, SIZES, with_gamma
from explorer.records import Measured, Point, Prediction, Progress, Series

MarsGamma = find("mars-gamma")
GAMMAS = (0.0, 0.025, 0.1, 0.5, 1.0)


def readout(exhibit, label):
    return next(one for one in exhibit.readouts() if one.label == label)


def curve(exhibit, figure, key):
    return next(one for one in exhibit.curves(figure) if one.key == key)


# -- predict


def test_readouts_at_the_defaults_are_the_worked_values():
    exhibit = MarsGamma()
    values = {one.label: one.value for one in exhibit.readouts()}
    assert values["γ_sim, similarity only"] == pytest.approx(0.00249377, abs=5e-9)
    assert values["γ*, with penalty"] == pytest.approx(0.00750010587, rel=2e-9)
    assert values["γ of least T"] == pytest.approx(0.00621, abs=5e-6)
    assert values["J(1) / J(γ*)"] == pytest.approx(6.69171371, rel=2e-9)
    assert values["T(γ) / T(1)"] == pytest.approx(39.5036361 / 351.411255, rel=1e-8)
    assert values["L σ / (ε δ)"] == pytest.approx(0.1)
    assert values["stability edge of η h"] == pytest.approx(40)
    assert values["bound after T steps"] == pytest.approx(0.0507014514, rel=2e-9)
    assert values["b1 of Theorem 1"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("sliders", "winner"),
    [
        ({}, "momentum, within 1 % of the best γ = 0.00621"),
        ({"delta": 1}, "interior: γ = 0.714"),
        ({"delta": 0.1}, "MVR, within 1 % of the best γ = 0.996"),
    ],
)
def test_which_wins(sliders, winner):
    assert readout(MarsGamma(**sliders), "which wins").text == winner


@pytest.mark.parametrize("sliders", [{"sigma": 0.5}, {"sigma": 1.0, "B_mini": 4}])
def test_without_noise_above_the_target_gamma_is_said_to_play_no_role(sliders):
    exhibit = MarsGamma(**sliders, eps=0.5)
    assert exhibit.curves("cost") == []
    assert "γ plays no role" in exhibit.figures()["cost"].empty
    assert "γ plays no role" in readout(exhibit, "which wins").text
    labels = {one.label for one in exhibit.readouts()}
    assert not labels & {"γ*, with penalty", "T(γ) / T(1)"}
    assert readout(exhibit, "T, steps").value == readout(MarsGamma(**sliders, gamma=1), "T, steps").value


def test_a_batch_divides_the_similarity_constant_and_the_noise_by_its_root():
    batched, scaled = MarsGamma(B_mini=4, sigma=8, delta=40), MarsGamma(sigma=4, delta=20)
    for one, other in zip(batched.readouts(), scaled.readouts(), strict=True):
        assert one.value == pytest.approx(other.value, nan_ok=True)


def test_both_optima_are_drawn_apart():
    exhibit = MarsGamma()
    assert curve(exhibit, "similarity", "best").x[0] == pytest.approx(0.00249377, abs=5e-9)
    assert curve(exhibit, "cost", "best J").x[0] == pytest.approx(0.00750010587, rel=2e-9)
    assert curve(exhibit, "cost", "best T").x[0] == pytest.approx(0.00621118, rel=1e-6)
    assert curve(exhibit, "cost", "T").y[-1] == curve(exhibit, "cost", "J").y[-1] == 1


def test_the_point_on_the_stability_figure_changes_its_name_above_the_edge():
    for eta_h, key, other in ((3.8, "stable", "unstable"), (4.0, "unstable", "stable")):
        exhibit = MarsGamma(gamma=0.5, eta_h=eta_h)  # the edge is 3.9
        assert np.isfinite(curve(exhibit, "edge", key).y).all()
        assert np.isnan(curve(exhibit, "edge", other).y).all()
        assert (key == "stable") == ("above" not in readout(exhibit, "η h / edge").text)


def test_the_map_has_the_diagonal_where_the_speed_up_ends():
    exhibit = MarsGamma()
    surface = next(one for one in exhibit.curves("speed_up") if isinstance(one, Surface))
    X, Y = np.meshgrid(surface.x, surface.y)
    ratio = exhibit.L * exhibit.sigma / (X * Y)
    known = np.isfinite(surface.z)
    assert (surface.z[known & (ratio > 1)] == pytest.approx(1)) and (
        surface.z[known & (ratio < 0.9)] > 1
    ).all()
    assert np.isnan(surface.z[exhibit.sigma <= X]).all()


def test_bounds_cross_as_the_horizon_grows():
    lines = {one.key: one for one in MarsGamma().curves("horizon")}
    slow, fast = lines["gamma 0"], lines["gamma 1"]
    assert slow.y[slow.x == 1e4] < fast.y[fast.x == 1e4]
    assert slow.y[slow.x == 1e6] > fast.y[fast.x == 1e6]


@settings(max_examples=60)
@given(st.data())
def test_the_corners_of_every_slider_draw_without_a_warning(data):
    exhibit = MarsGamma()
    for name, slider in exhibit.sliders().items():
        if hasattr(slider, "bounds"):
            exhibit.move(
                **{name: data.draw(st.sampled_from([slider.bounds[0], slider.default, slider.bounds[1]]))}
            )
    with np.errstate(all="raise", under="ignore"):
        for name, curves in exhibit.predict().items():
            for one in curves:
                if not isinstance(one, Surface) and exhibit.figures()[name].y.scale == "log":
                    assert (one.y[np.isfinite(one.y)] > 0).all()
        exhibit.readouts()


@pytest.mark.parametrize("name", list(MarsGamma.presets))
def test_presets_can_be_taken(name):
    MarsGamma().restore(MarsGamma.presets[name])


def test_the_lesson_sets_sliders_that_exist_and_trials_that_exist():
    steps = read_lesson(MarsGamma.lesson())
    assert len(steps) >= 5
    assert steps[-1].title == "What is known"
    for step in steps:
        MarsGamma().restore(step.values)
        if step.trial is not None:
            MarsGamma.trial_spec(step.trial)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"gamma": 1.5}, "gamma = 1.5 is outside 0 to 1"),
        ({"gamma": "much"}, "'much' is not a number"),
        ({"b1": 1}, "b1 = 1 is outside 0.8 to 0.99"),
        ({"B_mini": 2.5}, "B_mini = 2.5 is not a whole number"),
        ({"lr": 0}, "lr = 0 is outside"),
    ],
)
def test_a_wrong_value_is_told_in_a_sentence(values, sentence):
    with pytest.raises(BadInput, match=sentence.replace(".", r"\.")):
        MarsGamma(**values)


def test_a_text_that_is_not_there_is_told_before_anything_starts():
    with pytest.raises(BadInput, match="There is no file or folder"):
        MarsGamma(corpus="/nowhere/at/all").gammas("quick")


# -- orders


def test_the_gamma_of_the_slider_takes_its_neighbours_place():
    assert with_gamma(list(GAMMAS), 0.1) == list(GAMMAS)
    assert with_gamma(list(GAMMAS), 0.0) == list(GAMMAS)
    assert with_gamma(list(GAMMAS), 0.08) == [0.0, 0.025, 0.08, 0.5, 1.0]
    assert with_gamma(list(GAMMAS), 0.001) == [0.0, 0.001, 0.1, 0.5, 1.0]


def test_orders_of_the_two_theories():
    """L = 4 delta, rate times curvature of 6: similarity puts 1 first, the edge (3.9 at 0.5, 2 at 1) puts both last."""
    alone = order.similarity_order(GAMMAS, 2.0, 0.5)
    assert alone.tolist() == [5, 4, 3, 2, 1]
    assert order.order_below_edge(GAMMAS, 2.0, 0.5, 6.0, 0.95).tolist() == [3, 2, 1, 4, 5]
    assert order.order_below_edge(GAMMAS, 2.0, 0.5, 1.0, 0.95).tolist() == alone.tolist()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8))
def test_ranks_and_their_correlation(values):
    places = order.ranks(values)
    assert places.sum() == pytest.approx(len(values) * (len(values) + 1) / 2)
    same, opposite = order.spearman(values, values), order.spearman(values, -np.array(values))
    if len(set(values)) == 1:
        assert math.isnan(same)
    else:
        assert (same, opposite) == (pytest.approx(1), pytest.approx(-1))


def test_the_parabola_finds_a_minimum_between_gammas_and_stays_inside():
    gammas = (0.0, 0.025, 0.1, 0.5, 1.0)
    bowl = [9.0, *((np.log(g / 0.2)) ** 2 for g in gammas[1:])]
    assert order.parabola_argmin(gammas, bowl) == pytest.approx(0.2)
    assert order.parabola_argmin(gammas, [5, 4, 3, 2, 1]) == pytest.approx(1.0)


# -- compare, on measurements made up to known distances


def made_up(high, low, gamma_sim=0.8, limit=0.3, seeds=3, spread=0.001):
    """Final losses by gamma at both rates, seeds `spread` apart in what gamma = 1 does."""
    curves = {}
    for level, losses in (("high", high), ("low", low)):
        for seed in range(seeds):
            for gamma, loss in zip(GAMMAS, losses, strict=True):
                labels = {"gamma": gamma, "form": "exact", "level": level, "seed": seed, "last": 200}
                series = Series(f"{level} {gamma} {seed}", f"loss_{level}", "", labels)
                end = loss + 0.1 * seed + (spread * seed if gamma == 1 else 0)
                curves[series.key] = (series, np.array([100.0, 200.0]), np.array([end + 1, end]))
    alone, below = [5.0, 4.0, 3.0, 2.0, 1.0], [3.0, 2.0, 1.0, 4.0, 5.0]
    details = {
        "gammas": list(GAMMAS),
        "orders": {"high": {"similarity": alone, "edge": below}, "low": {"similarity": alone, "edge": alone}},
        "above_edge": {"high": [0.5, 1.0], "low": []},
        "gamma_at_edge": {"high": limit, "low": 1.5},
        "probed": {
            level: {
                "gamma_sim": gamma_sim,
                "probes": [{"tokens": 100, "L": 1, "delta": 0.5, "sigma": 1, "gamma_sim": 0.8, "eta_h": 5}],
            }
            for level in ("high", "low")
        },
    }
    return Measured(curves), {"orders": Prediction("orders", "order", "", {}, [], details=details)}


INTERIOR, FALLING = (2.30, 2.28, 2.22, 2.41, 2.45), (2.98, 2.975, 2.97, 2.965, 2.96)


def judged(name, *measured):
    return MarsGamma().compare(MarsGamma.agreements()[name], *measured)


def test_an_interior_optimum_at_the_high_rate_and_a_reversed_order_at_the_low_one():
    run = made_up(INTERIOR, FALLING)
    mvr, turned = judged("mvr-loses", *run), judged("reversal", *run)
    assert (mvr.verdict, turned.verdict) == ("agrees", "agrees")
    assert mvr.value == pytest.approx(0.23 + 0.001)
    assert mvr.baselines["MVR less AdamW"] == pytest.approx(0.151)
    assert turned.value == pytest.approx(0.15 + 0.02)
    edge = judged("edge-explains", *run)
    assert edge.verdict == "agrees"
    assert edge.baselines["below the edge"] == pytest.approx(1)
    high, low = judged("similarity-high", *run), judged("similarity-low", *run)
    assert (high.verdict, low.verdict) == ("disagrees", "agrees")
    assert high.value == pytest.approx(8)
    assert high.baselines["the same for similarity below the edge"] == pytest.approx(3)
    assert low.value == pytest.approx(1 / 0.8)


def test_where_mvr_wins_the_claims_are_refused():
    run = made_up(FALLING, INTERIOR)
    assert judged("mvr-loses", *run).verdict == "disagrees"
    assert judged("reversal", *run).verdict == "disagrees"
    assert judged("edge-explains", *run).verdict == "disagrees"


def test_seeds_that_differ_too_much_do_not_say():
    assert (
        judged("reversal", *made_up(INTERIOR, FALLING, spread=2.0)).verdict == "agrees"
    )  # shared by both rates
    noisy, sealed = made_up(FALLING, FALLING, spread=0.0)
    shaken = {}
    for series, x, y in noisy:
        luck = 0.1 * (-1) ** series.labels["seed"] * (series.labels["gamma"] == 1)
        shaken[series.key] = (series, x, y + (luck if series.labels["level"] == "high" else 0))
    assert judged("reversal", Measured(shaken), sealed).verdict == "too noisy to say"


def test_one_seed_cannot_agree():
    assert judged("mvr-loses", *made_up(INTERIOR, FALLING, seeds=1)).verdict == "too noisy to say"


def test_a_run_that_was_stopped_is_not_judged():
    measured, sealed = made_up(INTERIOR, FALLING)
    cut = Measured({s.key: (s, x[:1], y[:1]) for s, x, y in measured})
    for name in MarsGamma.agreements("gammas"):
        verdict = judged(name, cut, sealed)
        assert verdict.verdict == "too noisy to say"
        assert math.isnan(verdict.value)
    assert MarsGamma().tables("gammas", cut, sealed) == []
    assert judged("mvr-loses", Measured({}), {}).verdict == "too noisy to say"


def test_the_best_gamma_is_chosen_by_the_other_seeds():
    measured, _ = made_up(INTERIOR, FALLING)
    found = Outcome(measured, "high")
    found.final[1, 0] = 0.0  # one seed's luck with 0.025 does not choose 0.025 for itself
    assert found.best_between()[0] == pytest.approx(2.22)


def test_tables_list_paired_differences_and_name_the_theory():
    measured, sealed = made_up(INTERIOR, FALLING)
    losses, theories, probe = MarsGamma().tables("gammas", measured, sealed)
    assert len(losses.rows) == 10
    rows = {(row[0], row[1]): row for row in losses.rows}
    assert rows["high rate", "0.1"][3] == "-0.0800"
    assert rows["high rate", "0.1"][7] == "3 of 3"
    assert [row[6] for row in theories.rows] == ["with the edge", "both alike"]
    assert theories.rows[0][1] == "0.1, 0.025, 0, 0.5, 1"
    assert len(probe.rows) == 2


# -- train


TINY = {
    "gammas": [0.0, 0.1, 1.0],
    "approximate": 0.1,
    "width": 16,
    "batch": 2,
    "steps": 16,
    "seeds": 2,
    "first_seed": 0,
    "checkpoints": 3,
    "evaluated": 8,
    "probes": 2,
    "minibatches": 3,
    "curved": 4,
    "iterations": 2,
}


@pytest.fixture(scope="module")
def trained():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in a worker; on a busy computer two wait for each other
    yield list(run(**TINY))
    torch.set_num_threads(threads)


def collected(records):
    series = {one.key: one for one in records if isinstance(one, Series)}
    points = [one for one in records if isinstance(one, Point)]
    return Measured(
        {
            key: (one, [p.x for p in points if p.series == key], [p.y for p in points if p.series == key])
            for key, one in series.items()
        }
    )


def test_a_real_training_tells_everything_in_order(trained):
    kinds = [type(one).__name__ for one in trained]
    names = [one.name for one in trained if isinstance(one, Prediction)]
    assert names == ["edges", "orders"]
    sealed_at = next(k for k, one in enumerate(trained) if getattr(one, "name", "") == "orders")
    before = {one.series for one in trained[:sealed_at] if isinstance(one, Point)}
    assert before
    assert not any("γ=0.1" in key or "γ=1" in key for key in before)
    last_series = max(k for k, kind in enumerate(kinds) if kind == "Series")
    assert last_series < kinds.index("Point")
    done = [one.done for one in trained if isinstance(one, Progress)]
    assert done == sorted(done)
    assert done[-1] == 1
    assert {one.figure for one in trained if isinstance(one, Series)} == set(
        MarsGamma.trials()["gammas"].figures
    )


def test_a_real_training_can_be_judged_and_listed(trained):
    measured = collected(trained)
    sealed = {one.name: one for one in trained if isinstance(one, Prediction)}
    for name in MarsGamma.agreements("gammas"):
        assert math.isfinite(judged(name, measured, sealed).value)
    losses, theories, probe = MarsGamma().tables("gammas", measured, sealed)
    assert [row[1] for row in losses.rows[:4]] == ["0", "0.1", "1", "0.1, one gradient"]
    assert len(theories.rows) == 2
    assert len(probe.rows) == 4


def test_flops_count_two_backward_passes_for_the_exact_form_only(trained):
    measured = collected(trained)
    last = {}
    for series, x, _ in measured:
        if series.figure == "loss_by_flops":
            last[series.labels["gamma"], series.labels["form"]] = x[-1]
    assert last[0.1, "exact"] / last[0.0, "exact"] == pytest.approx(2 - 1 / TINY["steps"])
    assert last[0.1, "approximate"] == last[0.0, "exact"]


def test_every_curve_learns_and_the_figures_agree(trained):
    measured = collected(trained)
    for level in ("high", "low"):
        found = Outcome(measured, level)
        assert found.final.shape == (3, 2)
        assert (found.final < 4.7).all()  # a uniform guess over 97 symbols has 4.57
    differences = {
        (s.labels["level"], s.labels["seed"]): dict(zip(x.tolist(), y.tolist(), strict=True))
        for s, x, y in measured
        if s.figure == "difference"
    }
    high = Outcome(measured, "high")
    assert differences["high", 0][1.0] == pytest.approx(high.at(1.0)[0] - high.at(0.0)[0])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"gammas": [0.0, 1.0]}, "the comparison needs 0, 1 and at least one in between"),
        ({"gammas": [0.0, 0.5, 2.0]}, "γ = 2 was given"),
        ({"b1": 1.0}, "b1 = 1 was given"),
        ({"seeds": 0}, "0 seeds train nothing"),
        ({"first_seed": -1}, "The first seed is -1"),
        ({"steps": 8}, "8 steps are too few"),
        ({"checkpoints": 1}, "1 checkpoints in 16 steps"),
        ({"batch": 0}, "A batch of 0 windows"),
        ({"minibatches": 1}, "1 minibatches have no variance"),
        ({"iterations": 0}, "each has to be at least 1"),
        ({"learning_rate": float("nan")}, "The learning rate is nan"),
        ({"width": 20}, "multiple of 16"),
        ({"device": "moon"}, "no usable device 'moon'"),
        ({"corpus": "/nowhere"}, "There is no file or folder"),
    ],
)
def test_arguments_that_make_no_sense_are_told_in_a_sentence(change, sentence):
    with pytest.raises(BadInput, match=sentence):
        list(run(**{**TINY, **change}))


def test_sizes_are_arguments_of_the_experiments():
    for size in SIZES:
        arguments = MarsGamma().gammas(size)
        assert next(iter(run(**arguments))) == Progress(0.0, note="reading the corpus")
    assert MarsGamma(gamma=0).gammas("default")["approximate"] is None
    assert MarsGamma().gammas("quick")["approximate"] is None
    assert MarsGamma(lr=1e-3).gammas("quick")["learning_rate"] == pytest.approx(3e-3)
    for size in CHAINS:
        assert isinstance(next(iter(chains(**MarsGamma().chains(size)))), Prediction)


# -- chains


@pytest.fixture(scope="module")
def chained():
    return list(chains(chains=4_000, noises=(0.5, 2.0), steps=400, first_seed=0))


def test_chains_agree_with_the_recursion_and_data_diverge_at_the_edge(chained):
    measured = collected(chained)
    sealed = {one.name: one for one in chained if isinstance(one, Prediction)}
    exact, diverged = judged("recursion", measured, sealed), judged("divergence", measured, sealed)
    assert (exact.verdict, diverged.verdict) == ("agrees", "agrees")
    assert exact.points == 12
    assert diverged.value < 0.003
    (table,) = MarsGamma().tables("chains", measured, sealed)
    assert all(abs(float(row[4]) - 1) < 0.06 for row in table.rows)


def test_cells_without_a_stationary_spread_are_left_out_and_named():
    records = list(chains(chains=200, noises=(0.0, 3.0), eta_h=1.0, steps=150, gammas=(0.0, 1.0)))
    sealed = next(one for one in records if isinstance(one, Prediction) and one.name == "recursion")
    assert "Without bound, so not run: γ = 0 at noise 3" in sealed.note
    assert {s.labels["noise"] for s in records if isinstance(s, Series) and s.figure == "spread"} == {0.0}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"eta_h": 100.0}, "grows without bound for every γ and noise"),
        ({"chains": 5}, "needs 100 chains"),
        ({"eta_h": 0.0}, "a step is longer than 0"),
    ],
)
def test_chains_that_make_no_sense_are_told(change, sentence):
    with pytest.raises(BadInput, match=sentence):
        list(chains(**{"chains": 200, "steps": 150, **change}))
