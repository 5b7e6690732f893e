"""Whole plans: the published numbers, what is held, alternatives, intervals, several laws, and what is refused."""

# ruff: noqa: SIM300 (N and D are no constants)

import json
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.laws import allocation, law
from explorer.planning import (
    ACCOUNTS,
    COMPARED,
    PUBLISHED,
    Candidate,
    Machine,
    Plan,
    fitted,
    flops_budget,
    hours_budget,
    money_budget,
    plan,
    published,
    report,
    terms_of,
)


def printed(value, digits):
    """The value as a table prints it: `digits` significant digits."""
    return pytest.approx(value, rel=0.51 * 10 ** (1 - digits))


@pytest.mark.parametrize(
    ("name", "C", "N", "D", "ratio", "loss"),
    [
        ("hoffmann", 5.76e23, 3.218986e10, 2.982306e12, 92.647367, 1.930748),
        ("hoffmann-unrounded", 5.76e23, 4.036094e10, 2.378537e12, 58.93167, 1.918412),
        ("besiroglu", 5.76e23, 7.224870e10, 1.328744e12, 18.391245, 1.974441),
        ("besiroglu", 1e20, 8.534773e8, 1.952796e10, None, 2.553405),
    ],
)
def test_published_optima(name, C, N, D, ratio, loss):
    found = plan(C, laws=name)
    assert found.N == printed(N, 7)
    assert found.D == printed(D, 7)
    assert found.loss == pytest.approx(loss, abs=5.1e-7)
    assert ratio is None or found.tokens_per_parameter == printed(ratio, 7)
    assert 6 * found.N * found.D == pytest.approx(C, rel=1e-13)
    assert found.training_flops == found.flops == pytest.approx(C, rel=1e-13)
    assert found.loss_penalty == found.waste == found.serving_flops == 0
    assert found.opinions[0].N == pytest.approx(found.N)
    assert found.spread is None
    assert found.goal == "least loss"


def test_half_and_twice_the_size_cost_what_theory_says():
    found = plan("5.76e23", laws="besiroglu")
    reducible = found.loss - 1.8172
    by_name = {one.name: one for one in found.choices}
    assert list(by_name) == [
        "N = 70B",
        "N = 80B",
        "20 tokens per parameter",
        "half the best N",
        "twice the best N",
    ]
    for name, phi in (("twice the best N", 1.030847), ("half the best N", 1.030591)):
        assert 1 + by_name[name].loss_penalty / reducible == pytest.approx(phi, abs=1e-6)
        # The best run of that loss costs less by the power of the frontier L - E ~ C^-(alpha beta / (alpha + beta)).
        exponent = 0.3478 * 0.3658 / (0.3478 + 0.3658)
        assert by_name[name].waste == pytest.approx(phi ** (1 / exponent) - 1, rel=1e-4)
    assert by_name["N = 70B"].N == 7e10
    assert by_name["20 tokens per parameter"].tokens_per_parameter == pytest.approx(20, rel=1e-9)
    for one in found.choices:
        assert 6 * one.N * one.D == pytest.approx(5.76e23, rel=1e-9)
        assert one.loss == pytest.approx(found.loss + one.loss_penalty, rel=1e-12)
        assert one.loss_penalty > 0
        assert one.waste > 0


def test_device_hours_and_money_are_the_same_budget():
    machine = Machine("H100", 0.5, price=2.5)
    hours = hours_budget(1e5, machine)
    by_hours = plan(hours, laws="besiroglu")
    by_money = plan(money_budget(2.5e5, machine), laws="besiroglu")
    by_flops = plan(hours.flops, laws="besiroglu", machine=machine)
    for found in (by_hours, by_money, by_flops):
        assert found.N == by_hours.N
        assert found.device_hours == pytest.approx(1e5, rel=1e-12)
        assert found.cost == pytest.approx(2.5e5, rel=1e-12)
        assert (found.device, found.utilisation) == ("H100 SXM", 0.5)
        assert any("NVIDIA H100 data sheet" in note for note in found.notes)
    assert "100,000 H100 SXM-hours" in by_hours.question
    assert plan(1e22, machine=Machine("H100")).cost is None
    assert plan(1e22).device_hours is None


def test_reach_is_told():
    found = plan("5.76e23")
    reach = {one.name: one for one in found.reach}
    assert reach["C"].ratio == pytest.approx(5.76e23 / 1.296e22)
    assert reach["N"].ratio == pytest.approx(found.N / 16.2e9)
    assert reach["D"].ratio == pytest.approx(found.D / 318e9)
    assert reach["D/N"].ratio == 1
    assert any("extrapolates beyond the runs of the fit: C by 44.4 times" in note for note in found.notes)
    assert not any("extrapolates" in note for note in plan(1e21).notes)
    narrow = plan(3e18, laws="besiroglu", parameters=10e6)
    assert {one.name: one for one in narrow.reach}["N"].ratio == pytest.approx(5.73)


def test_several_laws_differ_by_a_known_amount():
    found = plan(5.76e23)
    assert [one.name for one in found.opinions] == list(COMPARED)
    assert found.spread.N == (min(one.N for one in found.opinions), max(one.N for one in found.opinions))
    by_name = {one.name: one for one in found.opinions}
    assert found.spread.N[0] == by_name["hoffmann"].N == printed(3.218986e10, 7)
    assert by_name["besiroglu"].penalty == 0
    for one in found.opinions:
        alone = plan(5.76e23, laws=one.name)
        assert (one.N, one.D, one.loss) == pytest.approx((alone.N, alone.D, alone.loss), rel=1e-9)
        assert one.penalty == pytest.approx(one.loss_of_plan - one.loss)
    phi = allocation.penalty(found.N / by_name["hoffmann"].N, 0.34, 0.28)
    assert by_name["hoffmann"].penalty == pytest.approx(
        (phi - 1) * (by_name["hoffmann"].loss - 1.69), rel=1e-6
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_law_plans(name):
    found = plan(1e21, laws=name)
    assert 6 * found.N * found.D == pytest.approx(1e21, rel=1e-9)
    grid = found.N * np.geomspace(0.1, 10, 201)
    assert (published(name).terms.loss(grid, 1e21 / 6 / grid) >= found.loss * (1 - 1e-12)).all()
    assert all(one.loss >= found.loss for one in found.choices)
    back = plan(loss=found.loss, laws=name)
    assert back.flops == pytest.approx(1e21, rel=1e-6)
    assert back.N == pytest.approx(found.N, rel=1e-5)


def test_parameters_or_tokens_can_be_held():
    free = plan(5.76e23, laws="besiroglu")
    held = plan("5.76e23", laws="besiroglu", parameters="70B")
    assert (held.N, held.D) == (7e10, pytest.approx(5.76e23 / 42e10, rel=1e-12))
    assert held.loss_penalty == pytest.approx(held.loss - free.loss)
    assert held.waste > 0
    assert held.choices[0].name == "best"
    assert held.choices[0].N == free.N
    assert not any(one.name == "N = 70B" for one in held.choices)
    held = plan(5.76e23, laws="besiroglu", tokens=1.4e12)
    assert (held.N, held.D) == (pytest.approx(5.76e23 / 8.4e12, rel=1e-9), 1.4e12)
    for fixed in ({"parameters": "7B"}, {"tokens": "15T"}):
        reached = plan(loss=2.1, laws="besiroglu", **fixed)
        assert reached.loss == pytest.approx(2.1, abs=1e-9)
        assert reached.flops > plan(loss=2.1, laws="besiroglu").flops
        assert reached.loss_penalty == pytest.approx(0, abs=1e-9)


def test_scarce_data_is_repeated_and_the_model_shrinks_no_further_than_it_pays():
    plain = plan(5.76e23, laws="muennighoff-c4")
    enough = plan(5.76e23, laws="muennighoff-c4", tokens_available="2T")
    scarce = plan(5.76e23, laws="muennighoff-c4", tokens_available="100B")
    assert (enough.N, enough.loss) == (plain.N, plain.loss)
    assert enough.epochs == pytest.approx(plain.D / 2e12)
    assert any("nothing is repeated" in note for note in enough.notes)
    assert scarce.loss > plain.loss
    assert scarce.epochs == pytest.approx(scarce.D / 1e11)
    assert scarce.epochs > 1
    assert scarce.N < plain.N  # Muennighoff et al. 2023: epochs pay more than parameters
    assert not any("borrowed" in note for note in scarce.notes)
    assert any("borrowed" in note for note in plan(5.76e23, tokens_available="100B").notes)


def test_data_that_is_used_up_is_told():
    found = plan(2.6e20, laws="besiroglu", tokens_available=1e8)
    floor = float(published("besiroglu").terms.floor(1e8))
    assert found.loss == pytest.approx(floor, abs=1e-6)
    assert any(note.endswith(f"the loss stays above {floor:.4f}.") for note in found.notes)
    assert any(one.waste is None for one in found.choices)
    assert "?" in report(found)


def test_serving_counts_in_both_questions():
    idle, busy = (plan(5.76e23, laws="besiroglu", inference_tokens=T) for T in (0, "2T"))
    assert busy.N < idle.N
    assert busy.loss > idle.loss
    assert busy.flops == pytest.approx(5.76e23, rel=1e-9)
    assert busy.serving_flops == pytest.approx(2 * busy.N * 2e12, rel=1e-12)
    assert "training and serving 2T tokens together" in busy.question
    idle, busy = (plan(loss=2.0, laws="besiroglu", inference_tokens=T) for T in (0, "2T"))
    assert busy.N < idle.N
    assert busy.D > idle.D
    assert busy.flops > idle.flops
    assert busy.goal == "least compute"
    assert "reaches a loss of 2 nats" in busy.question


def test_an_account_that_counts_more_leaves_less():
    found = [plan(1e21, laws="besiroglu", account=account) for account in ACCOUNTS]
    assert found[0].loss < found[1].loss < found[2].loss
    assert all(one.flops == pytest.approx(1e21, rel=1e-9) for one in found)


def ladder(noise):
    N = np.repeat(np.geomspace(1e7, 1e9, 6), 5)
    D = np.tile(np.geomspace(3e8, 3e10, 5), 6)
    loss = law("chinchilla").predict({"N": N, "D": D}, **law("chinchilla").defaults)
    return {"N": N, "D": D}, loss * np.exp(noise * np.random.default_rng(1).standard_normal(len(N)))


def test_a_fit_with_its_ensemble_gives_intervals():
    columns, losses = ladder(0.003)
    found = fit(law("chinchilla"), columns, losses)
    candidate = fitted(found, columns, found.resample(100))
    near, far = plan(1e20, laws=candidate), plan(1e24, laws=candidate)
    for one in (near, far):
        for value, (low, high) in (
            (one.N, one.N_interval),
            (one.D, one.D_interval),
            (one.loss, one.loss_interval),
        ):
            assert low < value < high
        assert one.flops_interval is None
    assert far.N_interval[1] / far.N_interval[0] > near.N_interval[1] / near.N_interval[0]
    wide, narrow = (plan(1e21, laws=candidate, coverage=c).loss_interval for c in (0.9, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    held = plan(1e21, laws=candidate, parameters=1e9)
    assert held.N_interval is held.D_interval is None
    assert held.loss_interval is not None
    reached = plan(loss=2.3, laws=candidate)
    assert reached.flops_interval[0] < reached.flops < reached.flops_interval[1]
    held = plan(loss=2.3, laws=candidate, parameters=3e9)
    assert held.N_interval is None
    assert held.D_interval[0] < held.D < held.D_interval[1]
    hard = plan(loss=candidate.terms.E * 1.001, laws=candidate)
    assert any("of 100 resamples have no such run" in note for note in hard.notes)


def test_two_fits_of_the_same_runs_are_compared():
    columns, losses = ladder(0.003)
    both = [fitted(fit(law(name), columns, losses), columns) for name in ("chinchilla", "kaplan")]
    found = plan(1e21, laws=both)
    assert [one.name for one in found.opinions] == ["chinchilla", "kaplan"]
    assert found.spread.N[0] < found.spread.N[1]
    assert any("'kaplan' is fitted to 30 points" in note for note in found.notes)
    assert not any("tokenisers" in note for note in found.notes)


def test_a_law_without_an_answer_is_told_and_left_out():
    found = plan(loss=1.75, laws=("hoffmann", "besiroglu"))
    assert [one.name for one in found.opinions] == ["hoffmann"]
    assert found.spread is None
    assert "The law 'besiroglu' has no run that answers." in found.notes


def test_a_plan_is_json_and_text():
    found = plan(hours_budget("1e4", Machine("H100", price=2)), tokens_available="50B", inference_tokens="1T")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Plan) == found
    assert json.dumps(msgspec.to_builtins(found), allow_nan=False)
    text = report(found)
    for part in (
        "H100 SXM-hours",
        "cost",
        "passes over the data",
        "in serving",
        "half the best N",
        "hoffmann",
    ):
        assert part in text
    with pytest.raises(AttributeError):
        found.N = 1
    text = report(plan(loss=2.0, parameters="70B", inference_tokens="1T"))
    assert "above the best run" in text


@settings(max_examples=25)
@given(
    st.floats(math.log(1e20), math.log(1e27)).map(math.exp),
    st.one_of(st.none(), st.floats(1e8, 1e14)),
    st.floats(0, 1e12),
    st.sampled_from(ACCOUNTS),
)
def test_no_choice_beats_the_plan(budget, available, served, account):
    given = {"tokens_available": available, "inference_tokens": served, "account": account, "laws": mine}
    found = plan(budget, **given)
    assert found.flops == pytest.approx(budget, rel=1e-9)
    for one in found.choices:
        assert one.loss >= found.loss * (1 - 1e-12)
        assert one.flops == pytest.approx(budget, rel=1e-8)
        assert one.waste is None or one.waste >= 0
    assert plan(2 * budget, **given).loss <= found.loss * (1 + 1e-12)


mine = Candidate("mine", "Mine", "made up", terms_of("chinchilla", law("chinchilla").defaults))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "No budget was given"),
        ({"budget": 1e21, "loss": 2.0}, "give one of them"),
        ({"budget": 0}, "is 0: give a finite number above zero"),
        ({"budget": -1.0}, "above zero"),
        ({"budget": math.nan}, "is nan"),
        ({"budget": "7 apples"}, "'7 apples', which is not a number"),
        ({"budget": 1e15}, "smallest run that the law 'besiroglu' rests on"),
        ({"budget": 5, "laws": mine}, "less than one parameter or one token"),
        ({"budget": 1e21, "tokens_available": 0}, "tokens available is 0: give a finite number above zero"),
        ({"budget": 1e21, "tokens_available": -3}, "tokens available is -3"),
        ({"budget": 1e21, "inference_tokens": -1}, "to serve is -1: give a finite number of zero or more"),
        ({"budget": 1e21, "inference_tokens": math.nan}, "to serve is nan"),
        ({"budget": 1e21, "parameters": 0}, "number of parameters is 0"),
        ({"budget": 1e21, "tokens": "some"}, "training tokens is 'some'"),
        ({"budget": 1e21, "parameters": 1e9, "tokens": 1e9}, "fix one, the other follows"),
        (
            {"budget": 1e21, "parameters": 7e10, "inference_tokens": 1e13},
            "leaves none of 1e21 FLOPs for training",
        ),
        ({"budget": 1e19, "inference_tokens": 1e14}, "1e19 FLOPs, with 100T tokens to serve, asks for less"),
        ({"budget": 1e21, "account": "8ND"}, "not counted as '8ND'"),
        ({"budget": 1e21, "laws": "besirogl"}, "Did you mean 'besiroglu'"),
        ({"budget": 1e21, "laws": ()}, "No law was given"),
        ({"budget": 1e21, "laws": ("kaplan", "kaplan")}, "'kaplan' was given twice"),
        ({"budget": 1e21, "coverage": 90}, "coverage is 90"),
        ({"loss": 1.8}, "never falls below 1.8172: give a higher loss"),
        ({"loss": 2.4, "tokens_available": 1e8}, "never falls below .* on the tokens available"),
        ({"loss": 9.0}, "asks for less training than the smallest run"),
        ({"loss": 2.0, "parameters": 1e8}, "does not reach a loss of 2 on any number of tokens"),
        ({"loss": 2.0, "tokens": 1e10}, "No model reaches a loss of 2 on 10B tokens"),
        ({"loss": 0}, "loss to reach is 0"),
    ],
)
def test_what_is_refused(given, said):
    with pytest.raises(BadInput, match=said) as refused:
        plan(**given)
    assert "\n" not in str(refused.value)


def test_a_budget_may_be_made_beforehand():
    assert plan(flops_budget("5.76e23")).N == plan(5.76e23).N
