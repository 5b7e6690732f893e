"""The ladder's predictions: the values its sources give, its invariants, and its verdict on made-up measurements."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.exhibits import find
from explorer.exhibits.ladder.law import (
    ACCOUNTS,
    Constants,
    flops_per_token,
    optimum,
    tokens_for,
    valley,
    waste,
)
from explorer.records import Measured, PredictedCurve, Prediction, Series

Ladder = find("ladder")
BESIROGLU = Constants(1.8172, 482.01, 2085.43, 0.3478, 0.3658)


def preset(start):
    return next(values for name, values in Ladder.presets.items() if name.startswith(start))


def readout(exhibit, label):
    return next(one.value for one in exhibit.readouts() if one.label == label)


@pytest.mark.parametrize(
    ("name", "N", "D", "ratio", "loss"),
    [
        ("Hoffmann, as printed", 3.218986e10, 2.982306e12, 92.647367, 1.930748),
        ("Hoffmann, unrounded", 4.036094e10, 2.378537e12, 58.93167, 1.918412),
        ("Besiroglu, as printed", 7.224870e10, 1.328744e12, 18.391245, 1.974441),
    ],
)
def test_readouts_at_chinchillas_compute(name, N, D, ratio, loss):
    exhibit = Ladder()
    exhibit.restore({**preset(name), "C": 5.76e23})
    assert readout(exhibit, "N*, best size") == pytest.approx(N, rel=1e-6)
    assert readout(exhibit, "D*, its tokens") == pytest.approx(D, rel=1e-6)
    assert readout(exhibit, "D*/N*") == pytest.approx(ratio, rel=1e-6)
    assert readout(exhibit, "loss at the optimum") == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "N", "D", "loss"),
    [
        ("Hoffmann, as printed", 70e9, 1.4e12, 1.9366455),
        ("Besiroglu, as printed", 70e9, 1.4e12, 1.9738819),
        ("Hoffmann, as printed", 280e9, 300e9, 1.9932585),
        ("Besiroglu, as printed", 280e9, 300e9, 1.9996077),
    ],
)
def test_loss_of_known_models(name, N, D, loss):
    exhibit = Ladder(**preset(name), N=N, D=D)
    assert readout(exhibit, "loss at (N, D)") == pytest.approx(loss, abs=1e-7)


@pytest.mark.parametrize(
    ("epochs", "worth"), [(2, 1.968199), (4, 3.725673), (16, 10.582457), (40, 15.167465)]
)
def test_worth_of_repeated_data(epochs, worth):
    exhibit = Ladder(D=1e9 * epochs, epochs=epochs)
    assert readout(exhibit, "worth of the data") * epochs == pytest.approx(worth, abs=1e-6)


@pytest.mark.parametrize(("x", "penalty"), [(2, 1.030847), (0.5, 1.030591), (10, 1.361691)])
def test_penalty_off_the_optimum(x, penalty):
    C = 5.76e23
    N = float(optimum(BESIROGLU, np.asarray(C))[0]) * x
    assert waste(BESIROGLU, N, C / (6 * N)) == pytest.approx(penalty, abs=1e-6)


def test_every_published_set_is_a_preset():
    assert len(Ladder.presets) == 8
    for values in Ladder.presets.values():
        assert {"E", "A", "B", "alpha", "beta"} <= set(values)
    assert preset("Muennighoff")["R_D"] == pytest.approx(15.387756)
    eta = preset("Gadre, C4")
    assert eta["alpha"] == eta["beta"] == pytest.approx(2 * 0.121)


def test_values_that_cannot_stand_together_are_refused():
    exhibit = Ladder()
    with pytest.raises(
        BadInput, match=r"C = 1e20 cannot be had with the other values: it would have to be 5\.88e23"
    ):
        exhibit.restore({"N": "70B", "D": "1.4T", "C": "1e20"})
    with pytest.raises(BadInput, match="C = 1e15 cannot be had"):
        exhibit.restore({"C": 1e15})
    assert exhibit.values() == Ladder().values()


@given(
    st.sampled_from(ACCOUNTS),
    st.floats(16, 28),
    st.floats(0.1, 0.9),
    st.floats(0.1, 0.9),
    st.floats(1, 5),
    st.floats(1, 5),
)
def test_the_optimum_is_the_bottom_of_its_valley(account, log_C, alpha, beta, log_A, log_B):
    constants = Constants(1.5, 10**log_A, 10**log_B, alpha, beta)
    C = np.asarray(10**log_C)
    N, D = optimum(constants, C, account)
    assert flops_per_token(N, account) * D == pytest.approx(C, rel=1e-9)
    best = constants.loss(N, D)
    for factor in (0.9, 1.1):
        assert constants.loss(N * factor, tokens_for(C, N * factor, account)) >= best - 1e-9


def test_search_agrees_with_the_closed_form_where_heads_do_not_matter():
    """At a huge budget the head and attention are small change, and the search must land on the closed form."""
    C = np.asarray(1e40)
    plain, _ = optimum(BESIROGLU, C)
    searched, _ = optimum(BESIROGLU, C, "6ND + head")
    assert float(searched / plain) == pytest.approx(1, rel=1e-3)


def test_valley_is_lowest_in_the_middle():
    N, loss = valley(BESIROGLU, 1e21)
    assert np.argmin(loss) == len(N) // 2


def test_moving_N_keeps_the_compute_and_moving_D_changes_it():
    exhibit = Ladder()
    C = exhibit.C
    exhibit.move(N=7e9)
    assert pytest.approx(C) == exhibit.C
    assert pytest.approx(C / 6 / 7e9) == exhibit.D
    exhibit.move(D=1e12)
    assert (7e9, pytest.approx(6 * 7e9 * 1e12)) == (exhibit.N, exhibit.C)
    exhibit.move(C=6e21)
    assert (7e9, pytest.approx(6e21 / 6 / 7e9)) == (exhibit.N, exhibit.D)


@given(st.floats(6, 13), st.floats(8, 14), st.floats(14, 29))
def test_no_move_leaves_the_bounds(log_N, log_D, log_C):
    exhibit = Ladder()
    for move in ({"N": 10**log_N}, {"D": 10**log_D}, {"C": 10**log_C}):
        exhibit.move(**move)
        for name in ("N", "D", "C"):
            low, high = exhibit.param[name].bounds
            assert low <= getattr(exhibit, name) <= high
        for curves in exhibit.predict().values():
            assert all(np.isfinite(curve.y).any() for curve in curves if curve.key in ("here", "sliders"))


@settings(max_examples=50)
@given(st.data())
def test_the_corners_of_every_slider_draw_without_a_warning(data):
    exhibit = Ladder()
    for name, slider in exhibit.sliders().items():
        if hasattr(slider, "bounds"):
            exhibit.move(
                **{name: data.draw(st.sampled_from([slider.bounds[0], slider.default, slider.bounds[1]]))}
            )
    with np.errstate(all="raise", under="ignore"):
        exhibit.predict()
        exhibit.readouts()


# -- the verdict, on measurements made up to known distances


def measured_run(gap, spread, seeds=3):
    """A sealed prediction, and three widths and a target that lie `gap` above it in ln L, seeds `spread` apart."""
    D = np.geomspace(70_000, 200_000, 7).round()
    predicted = 2.0 + 5 / D**0.1
    prediction = Prediction(
        name="bigger-model",
        figure="ladder",
        law="chinchilla",
        coefficients={},
        curves=[PredictedCurve("target", "", D.tolist(), predicted.tolist())],
        details={
            "scored_from": 70_000,
            "beyond": [False] * 6 + [True],
            "target_width": 160,
            "compute_ratio": 5.0,
            "corpus": "code",
            "model": "residual-mlp",
            "baselines": {"flat": {"predicted": [2.0] * 7}},
        },
    )
    curves = {}
    offsets = np.linspace(-1, 1, seeds) * spread if seeds > 1 else np.zeros(1)
    for width in (16, 32, 64, 160):
        for seed in range(seeds):
            role = "held out" if width == 160 else "fitted"
            series = Series(f"{width} {seed}", "ladder", "", {"width": width, "seed": seed, "role": role})
            y = predicted * np.exp((gap if width == 160 else 0) + offsets[seed])
            curves[series.key] = (series, D, y)
    return Measured(curves), {"bigger-model": prediction}


def judged(gap, spread, seeds=3):
    return Ladder().compare(Ladder.agreements()["bigger-model"], *measured_run(gap, spread, seeds))


def test_close_agrees_far_disagrees():
    close, far = judged(0.01, 0.001), judged(0.08, 0.001)
    assert (close.verdict, far.verdict) == ("agrees", "disagrees")
    assert close.value == pytest.approx(0.01, abs=1e-9)
    assert far.value == pytest.approx(0.08, abs=1e-9)
    assert close.seeds == 3
    assert close.points == 21
    assert close.baselines["flat"] > close.value


def test_wide_spread_is_too_noisy_to_say():
    assert judged(0.028, 0.02).verdict == "too noisy to say"


def test_the_second_number_looks_at_the_most_compute_only():
    verdict = Ladder().compare(Ladder.agreements()["most-compute"], *measured_run(0.01, 0.001))
    assert verdict.points == 3
    assert verdict.value == pytest.approx(0.01, abs=1e-9)


def test_one_seed_cannot_agree():
    verdict = judged(0.0, 0.0, seeds=1)
    assert verdict.verdict == "too noisy to say"


def test_missing_budgets_give_no_verdict():
    measured, sealed = measured_run(0.01, 0.001)
    cut = Measured({s.key: (s, x[:3], y[:3]) for s, x, y in measured})
    verdict = Ladder().compare(Ladder.agreements()["bigger-model"], cut, sealed)
    assert verdict.verdict == "too noisy to say"
    assert math.isnan(verdict.value)


def test_loss_with_repeats_is_the_papers():
    """Two of the values that the authors' code prints, for 25 billion unique tokens."""
    for N, D, loss in ((6.34e9, 242e9, 2.2256440890), (8.67e9, 178e9, 2.2269634075)):
        exhibit = Ladder(**preset("Muennighoff"))
        exhibit.restore({"N": N, "D": D, "epochs": D / 25e9})
        assert readout(exhibit, "loss with repeats") == pytest.approx(loss, abs=1e-9)
