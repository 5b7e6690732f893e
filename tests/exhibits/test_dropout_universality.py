"""The exhibit: sliders that follow each other, figures, verdicts on made-up measurements, one real training."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.exhibits import find
from explorer.exhibits.dropout_universality import law, ranking
from explorer.exhibits.dropout_universality.exhibit import CUSTOM
from explorer.exhibits.dropout_universality.schedules import EQUAL_BUDGET, RANKED
from explorer.exhibits.lesson import read_lesson
from explorer.records import Measured, Point, PredictedCurve, Prediction, Progress, Series

Dropout = find("dropout-universality")


def readout(exhibit, label):
    return next(one for one in exhibit.readouts() if one.label == label)


def curve(exhibit, figure, key):
    return next(one for one in exhibit.curves(figure) if one.key == key)


# -- sliders


def test_defaults_stand_as_settled():
    exhibit = Dropout()
    exhibit.move(p=exhibit.p, schedule=exhibit.schedule)
    assert exhibit.changed_values() == {}
    assert exhibit.sw2 == pytest.approx(2.30830563, abs=5e-9)


def test_tuned_weights_follow_the_rate():
    exhibit = Dropout()
    exhibit.move(p=0.2)
    assert exhibit.sw2 == pytest.approx(2.76753399, abs=5e-9)
    assert readout(exhibit, "c*").value == pytest.approx(0.16691180, abs=5e-9)
    assert readout(exhibit, "χ = F'(1)").value == pytest.approx(1)
    exhibit.move(p=0)
    assert readout(exhibit, "c*").value == 1
    assert readout(exhibit, "depth scale ξ").text == "for ever"
    assert curve(exhibit, "correlation", "theory").y == pytest.approx(1, abs=1e-12)


def test_weights_moved_by_hand_are_no_longer_tuned():
    exhibit = Dropout()
    exhibit.move(sw2=3.0)
    assert (exhibit.critical, exhibit.sw2) == ("as-set", 3.0)
    exhibit.move(p=0.3)
    assert exhibit.sw2 == 3.0
    exhibit.move(critical="tuned")
    assert readout(exhibit, "χ = F'(1)").value == pytest.approx(1)


def test_relu_has_no_biases_unless_they_are_set():
    exhibit = Dropout()
    exhibit.move(activation="ReLU-He")
    assert (exhibit.sb2, exhibit.sw2) == (0, pytest.approx(1.8))
    assert readout(exhibit, "c*").value == pytest.approx(0.6271458849, abs=5e-11)
    exhibit.move(activation="erf")
    assert exhibit.sb2 == 0.1
    exhibit.move(sb2=0.05)
    exhibit.move(activation="tanh")
    assert exhibit.sb2 == 0.05


def test_the_profile_follows_schedule_budget_and_depth():
    exhibit = Dropout()
    exhibit.move(schedule="front half")
    assert exhibit.h == pytest.approx((0.2, 0.2, 0.2, 0, 0, 0))
    assert readout(exhibit, "ξ_eff").value == pytest.approx(5.0864271337, abs=1e-9)
    assert readout(exhibit, "V / V constant").value == pytest.approx(1.4848330906, abs=1e-9)
    exhibit.move(hbar=0.15, depth=4)
    assert exhibit.h == pytest.approx((0.3, 0.3, 0, 0))
    exhibit.move(schedule="double budget")
    assert exhibit.h == pytest.approx((0.3,) * 4)
    assert exhibit.hbar == 0.15


def test_a_dragged_profile_is_a_schedule_of_its_own():
    exhibit = Dropout()
    exhibit.move(h=(0.3, 0.1, 0.1, 0.1, 0.0, 0.0))
    assert exhibit.schedule == CUSTOM
    assert exhibit.hbar == pytest.approx(0.1)
    exhibit.move(hbar=0.2)
    assert exhibit.h == pytest.approx((0.6, 0.2, 0.2, 0.2, 0, 0))
    exhibit.move(depth=12)
    assert len(exhibit.h) == 12
    assert np.mean(exhibit.h) == pytest.approx(0.2)
    exhibit.move(schedule="constant")
    assert exhibit.h == pytest.approx((0.2,) * 12)


def test_a_profile_has_a_say_on_depth_and_budget():
    exhibit = Dropout(h="0.2, 0, 0.1")
    assert (exhibit.schedule, exhibit.depth, exhibit.hbar) == (CUSTOM, 3, pytest.approx(0.1))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_stored_sliders_can_be_restored(data):
    exhibit = Dropout()
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(set(exhibit.sliders()) - {"h"})))
        slider = exhibit.sliders()[name]
        if hasattr(slider, "objects"):
            value = data.draw(st.sampled_from(slider.objects))
        else:
            value = data.draw(st.sampled_from([slider.bounds[0], slider.default, slider.bounds[1]]))
        exhibit.move(**{name: value})
    for values in (exhibit.values(), exhibit.changed_values()):
        again = Dropout(**values)
        for name, slider in exhibit.sliders().items():
            assert slider.same(getattr(again, name), getattr(exhibit, name)), name


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_corners_of_every_slider_draw_without_a_warning(data):
    exhibit = Dropout()
    for name, slider in exhibit.sliders().items():
        if hasattr(slider, "objects"):
            exhibit.move(**{name: data.draw(st.sampled_from(slider.objects))})
        elif hasattr(slider, "scale") and name != "h":
            exhibit.move(
                **{name: data.draw(st.sampled_from([slider.bounds[0], slider.default, slider.bounds[1]]))}
            )
    with np.errstate(all="raise", under="ignore"):
        exhibit.predict()
        exhibit.readouts()


def test_presets_can_be_taken_over():
    for values in Dropout.presets.values():
        Dropout(**values)


# -- figures


def test_the_map_ends_below_one_and_its_crossing_is_marked():
    exhibit = Dropout(p=0.05)
    drawn = curve(exhibit, "cobweb", "map")
    assert drawn.y[-1] == pytest.approx(1 - 0.04486688, abs=5e-9)
    at = curve(exhibit, "cobweb", "fixed point")
    assert (at.x[0], at.y[0]) == pytest.approx((0.53660783, 0.53660783), abs=5e-9)
    assert np.interp(at.x[0], drawn.x, drawn.y) == pytest.approx(at.y[0], abs=2e-3)
    stairs = curve(exhibit, "cobweb", "stairs")
    settled = stairs.x[np.isfinite(stairs.x)][-1]
    assert settled == pytest.approx(at.x[0], abs=0.03)


def test_the_dot_of_the_sliders_lies_on_the_critical_line():
    for activation in ("tanh", "erf", "ReLU-formal", "ReLU-He"):
        exhibit = Dropout(activation=activation, p=0.01)
        for figure in ("alignment", "memory"):
            line, dot = curve(exhibit, figure, "map"), curve(exhibit, figure, "here")
            known = np.isfinite(line.y)
            found = np.interp(math.log(dot.x[0]), np.log(line.x[known]), np.log(line.y[known]))
            assert found == pytest.approx(math.log(dot.y[0]), abs=5e-3)


def test_collapsed_points_come_nearer_to_their_curve_as_the_rate_falls():
    for activation, master in (("tanh", law.smooth_collapse), ("ReLU-formal", law.kinked_collapse)):
        exhibit = Dropout(activation=activation)
        off = []
        for rate in ("0.0001", "0.001", "0.01"):
            dots = curve(exhibit, "collapse", f"p = {rate}")
            off.append(np.abs(dots.y / master(dots.x) - 1).max())
        assert off == sorted(off)
        assert off[0] < 0.1


def test_reach_is_drawn_in_falling_order_and_the_chosen_one_is_marked():
    exhibit = Dropout(schedule="back half")
    bars = curve(exhibit, "reach", "reach")
    assert set(bars.names) == set(EQUAL_BUDGET)
    assert np.all(np.diff(bars.y) <= 0)
    assert bars.names[int(curve(exhibit, "reach", "chosen").x[0])] == "back half"
    exhibit.move(h=(0.6, 0, 0, 0, 0, 0))
    assert CUSTOM in curve(exhibit, "reach", "reach").names


def test_what_cannot_be_is_told_in_a_sentence():
    exhibit = Dropout(activation="GELU")
    sentence = readout(exhibit, "no map").text
    assert sentence.startswith("No weight variance makes chi = 1 for GELU with p = 0.1")
    for name in ("cobweb", "corner", "correlation"):
        assert exhibit.curves(name) == []
        assert "No weight variance" in Dropout.figures()[name].empty
    with pytest.raises(BadInput, match="No weight variance"):
        exhibit.propagation("quick")
    exhibit.move(p=0.01)
    assert readout(exhibit, "χ = F'(1)").value == pytest.approx(1)
    assert "leaves this q*" in readout(exhibit, "note").text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"p": 1.0}, "p = 1 is outside 0 to 0.5"),
        ({"p": -0.1}, "p = -0.1 is outside"),
        ({"h": "0.1, nan"}, "'nan' is not a number"),
        ({"h": "0.1, 0.9"}, "Entry 2 of h is 0.9"),
        ({"h": ""}, "not a number|entries"),
        ({"h": "0.6, 0.6"}, "cannot be had with the other values"),
        ({"activation": "cosine"}, "not offered"),
        ({"schedule": "front half", "h": "0.1, 0.1"}, "cannot be had with the other values"),
    ],
)
def test_bad_values_are_refused_in_a_sentence(values, words):
    exhibit = Dropout()
    with pytest.raises(BadInput, match=words):
        exhibit.restore(values)
    assert exhibit.changed_values() == {}


def test_runs_that_cannot_be_are_refused_in_a_sentence():
    with pytest.raises(BadInput, match="formal reading of ReLU"):
        Dropout(activation="ReLU-formal").propagation("quick")
    with pytest.raises(BadInput, match="runs take 4 to 16"):
        Dropout(depth=64).schedules("default")
    with pytest.raises(BadInput, match="all schedules are the same"):
        Dropout(hbar=0).schedules("quick")
    with pytest.raises(BadInput, match="all schedules are the same"):
        Dropout(hbar=0).transformer("quick")


def test_every_step_of_the_lesson_can_be_taken():
    steps = read_lesson(Dropout.lesson())
    assert steps[-1].title == "What is known"
    for step in steps:
        exhibit = Dropout(**(Dropout.presets[step.preset] if step.preset else {}))
        exhibit.restore(step.values, trusted=False)
        assert step.trial is None or step.trial in Dropout.trials()


def test_a_moved_slider_costs_little():
    exhibit = Dropout()
    exhibit.predict()
    moves = {
        "p": np.linspace(0.02, 0.4, 15),
        "sw2": np.linspace(1, 3, 15),
        "hbar": np.linspace(0.02, 0.2, 15),
    }
    for name, values in moves.items():
        spent = []
        for value in values:
            before = exhibit.values()
            start = time.process_time()
            exhibit.move(**{name: float(value)})
            moved = {key for key, old in before.items() if exhibit.values()[key] != old}
            for figure, spec in Dropout.figures().items():
                if spec.needs is None or spec.needs & moved:
                    exhibit.curves(figure)
            exhibit.readouts()
            spent.append(time.process_time() - start)
        assert np.median(spent) < 0.015  # 2 to 3 ms where nothing else runs


# -- verdicts on measurements made up to known distances


def raced(finals, peak=1.0):
    """A run in which every schedule ends at the losses given, one a seed, after having been at `peak` times them."""
    curves = {}
    at = np.array([1.0, 2.0])
    for name, losses in finals.items():
        for seed, loss in enumerate(losses):
            labels = {"schedule": name, "seed": seed, "measure": "test loss"}
            series = Series(f"{name} {seed}", "networks", name, labels)
            curves[series.key] = (series, at, np.array([peak * loss, loss]))
        labels = {"schedule": name, "measure": "mean training loss"}
        series = Series(f"{name} training", "training_losses", name, labels)
        curves[series.key] = (series, at, np.array([0.5, 0.05]) * np.mean(losses))
    reach = {name: 2.0 - 0.2 * k for k, name in enumerate(RANKED)}
    details = {"reach": reach, "ranked": list(RANKED), "baselines": {"none": dict.fromkeys(RANKED, 1.0)}}
    order = Prediction("order", "reach", "", {}, [], details=details)
    return Measured(curves), {"order": order}


def judged(name, measured, sealed):
    return Dropout().compare(Dropout.agreements()[name], measured, sealed)


def in_order(spread, seeds=5):
    shift = np.linspace(-1, 1, seeds) * spread
    return {name: 0.4 + 0.1 * k + np.roll(shift, k) for k, name in enumerate(RANKED)}


def test_the_right_order_agrees_and_the_wrong_one_disagrees():
    right = judged("order", *raced(in_order(0.001)))
    assert (right.verdict, right.value, right.seeds) == ("agrees", 1.0, 5)
    finals = in_order(0.001)
    wrong = judged("order", *raced(dict(zip(finals, reversed(finals.values()), strict=True))))
    assert (wrong.verdict, wrong.value) == ("disagrees", -1.0)


def test_an_order_that_seeds_do_not_share_is_too_noisy_to_say():
    found = judged("order", *raced(in_order(0.3)))
    assert found.verdict == "too noisy to say"
    assert judged("order", *raced(in_order(0.0, seeds=1))).verdict == "too noisy to say"


def test_a_schedule_that_was_not_trained_gives_no_verdict():
    finals = in_order(0.001)
    del finals["middle"]
    assert math.isnan(judged("order", *raced(finals)).value)
    del finals["back half"]
    for name in ("back-is-worse", "back-is-worse-each-time"):
        assert judged(name, *raced(finals)).verdict == "too noisy to say"


def test_back_is_judged_in_pairs():
    constant = np.array([0.4, 0.5, 0.6])
    worse = judged(
        "back-is-worse", *raced({"constant": constant, "back half": 1.2 * constant + [0, 0.01, 0]})
    )
    assert worse.verdict == "agrees"
    assert worse.value == pytest.approx(100 * (0.2 + 0.02 / 3))
    assert "3 of 3" in worse.scope
    once = raced({"constant": constant, "back half": constant * [1.5, 1.5, 0.9]})
    assert judged("back-is-worse", *once).verdict == "too noisy to say"
    each = judged("back-is-worse-each-time", *once)
    assert (each.verdict, each.value) == ("disagrees", pytest.approx(-10))


def test_the_regime_is_told():
    assert judged("back-is-worse", *raced(in_order(0.01), peak=0.9)).scope.count("Over-fitted") == 1


def test_the_table_shows_last_and_best_epochs_side_by_side():
    (table,) = Dropout().tables("schedules", *raced(in_order(0.01), peak=0.8))
    rows = {row[0]: dict(zip(table.columns[1:], row[1:], strict=False)) for row in table.rows}
    assert set(rows) == set(RANKED)
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert rows["front half"]["final loss"] == pytest.approx(0.4)
    assert rows["front half"]["best-epoch loss"] == pytest.approx(0.32)
    assert rows["front half"]["lower in seeds"] == "5 of 5"
    assert "Over-fitted" in table.note
    assert Dropout().tables("propagation", *raced(in_order(0.01))) == []


def propagated(offset, spread, networks=12, width=1024):
    theory = np.linspace(1, 0.4, 31)
    sealed = Prediction(
        "sliders", "correlation", "", {}, [PredictedCurve("theory", "", list(range(31)), theory.tolist())]
    )
    shifts = np.linspace(-1, 1, networks) * spread
    curves = {
        f"network {k}": (
            Series(f"network {k}", "correlation", "", {"seed": k, "width": width}),
            np.arange(31.0),
            theory + (offset + shift) * (np.arange(31) > 0),
        )
        for k, shift in enumerate(shifts)
    }
    return Measured(curves), {"sliders": sealed}


def test_networks_on_the_theory_agree_and_off_it_disagree():
    near, far = judged("gap", *propagated(0.005, 0.005)), judged("gap", *propagated(0.05, 0.005))
    assert (near.verdict, far.verdict) == ("agrees", "disagrees")
    assert near.value == pytest.approx(0.005)
    assert judged("gap", *propagated(0.02, 0.05)).verdict == "too noisy to say"


def test_narrow_networks_are_forgiven_as_the_root_of_their_width():
    assert judged("gap", *propagated(0.05, 0.002, width=256)).value == pytest.approx(0.025)


def test_kendall_tau():
    order = np.array([6.0, 5, 4, 3, 2, 1])
    assert ranking.kendall_tau(order, order) == 1
    assert ranking.kendall_tau(order, -order) == -1
    measured = np.array([0.3050, 0.2892, 0.3409, 0.3083, 0.3915, 0.4649])
    assert ranking.kendall_tau(order, -measured) == pytest.approx(11 / 15)
    assert math.isnan(ranking.kendall_tau(np.ones(3), np.arange(3.0)))
    assert ranking.kendall_tau(np.array([1.0, 1, 2]), np.array([0.0, 5, 7])) == 1


def test_interval_of_two_conditions_is_as_sure_as_students():
    rng = np.random.default_rng(0)
    found = np.column_stack([rng.normal(0, 1, 6), rng.normal(0.9, 1, 6)])
    from explorer.agreement import paired_difference

    low, _ = paired_difference(found[:, 1].tolist(), found[:, 0].tolist()).interval
    tau_low, tau_high = ranking.tau_interval(np.array([0.0, 1.0]), found)
    assert tau_high == 1
    assert (tau_low == 1) == (low > 0)


def test_sign_test():
    assert ranking.sign_test(5, 5) == 2 / 32
    assert ranking.sign_test(0, 5) == 2 / 32
    assert ranking.sign_test(2, 4) == 1


# -- one real training


@pytest.fixture(scope="module")
def records():
    torch = pytest.importorskip("torch")
    from explorer.exhibits.dropout_universality.experiment import run

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    exhibit = Dropout(schedule="front half", seeds=3)
    exhibit.move(h=(0.3, 0.15, 0.15, 0, 0, 0))
    arguments = exhibit.schedules("quick") | {
        "conditions": ["constant", "front half", "back half"],
        "tested": 500,
        "epochs": 80,
        "every": 8,
    }
    yield list(run(**arguments))
    torch.set_num_threads(before)


def test_what_is_expected_is_sealed_before_the_first_point(records):
    kinds = [type(record) for record in records]
    assert kinds.index(Prediction) < kinds.index(Point)
    (order,) = [record for record in records if isinstance(record, Prediction)]
    assert (
        order.note
        == "From the lowest final test loss to the highest: custom, front half, constant, back half."
    )
    assert set(order.details["reach"]) == {"constant", "front half", "back half", CUSTOM}
    earliest, least = (
        order.details["baselines"][name] for name in ("earliest layers first", "least damage first")
    )
    assert earliest["front half"] > earliest["constant"] > earliest["back half"]
    assert least["front half"] == least["back half"] > least["constant"]


def test_every_series_is_declared_once_and_measured(records):
    declared = {record.key: record for record in records if isinstance(record, Series)}
    assert len(declared) == sum(isinstance(record, Series) for record in records)
    points: dict[str, int] = {}
    for record in records:
        if isinstance(record, Point):
            assert record.series in declared
            points[record.series] = points.get(record.series, 0) + 1
    assert set(points) == set(declared)
    figures = Dropout.figures()
    assert {one.figure for one in declared.values()} <= set(figures)
    assert set(Dropout.trials()["schedules"].figures) <= set(figures)
    done = [record.done for record in records if isinstance(record, Progress)]
    assert done == sorted(done)
    assert done[-1] == 1


def test_back_loading_is_worse_in_a_real_training(records):
    declared = {record.key: record for record in records if isinstance(record, Series)}
    measured = Measured(
        {
            key: (
                series,
                [r.x for r in records if isinstance(r, Point) and r.series == key],
                [r.y for r in records if isinstance(r, Point) and r.series == key],
            )
            for key, series in declared.items()
        }
    )
    sealed = {record.name: record for record in records if isinstance(record, Prediction)}
    verdict = judged("back-is-worse", measured, sealed)
    assert verdict.value > 10  # 42 to 57 % in longer runs
    assert judged("back-is-worse-each-time", measured, sealed).verdict == "agrees"
    (table,) = Dropout().tables("schedules", measured, sealed)
    assert {row[0] for row in table.rows} == {"constant", "front half", "back half", CUSTOM}


def test_real_networks_follow_the_theory():
    pytest.importorskip("torch")
    from explorer.exhibits.dropout_universality.experiment import propagate

    exhibit = Dropout(N=256)
    sealed = Prediction(
        "sliders",
        "correlation",
        "",
        {},
        [PredictedCurve(c.key, c.label, c.x.tolist(), c.y.tolist()) for c in exhibit.curves("correlation")],
    )
    found = list(propagate(**exhibit.propagation("quick")))
    curves = {
        series.key: (
            series,
            [r.x for r in found if isinstance(r, Point) and r.series == series.key],
            [r.y for r in found if isinstance(r, Point) and r.series == series.key],
        )
        for series in found
        if isinstance(series, Series)
    }
    verdict = judged("gap", Measured(curves), {"sliders": sealed})
    assert verdict.value < 0.03
    assert verdict.seeds == 24
