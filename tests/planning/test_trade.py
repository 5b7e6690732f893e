"""Where the best run lies: against a grid, and what must hold for any law of the family."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.laws import allocation
from explorer.planning import ACCOUNTS
from explorer.planning.terms import Terms
from explorer.planning.trade import Trade

laws = st.builds(
    Terms,
    E=st.floats(0.0, 3.0),
    A=st.floats(0.0, math.log(1e5)).map(math.exp),
    B=st.floats(0.0, math.log(1e5)).map(math.exp),
    alpha=st.floats(0.1, 1.0),
    beta=st.floats(0.1, 1.0),
    gamma=st.floats(0.2, 1.5),
    R_D=st.floats(1.0, 100.0),
    R_N=st.floats(1.0, 100.0),
)
budgets = st.floats(math.log(1e17), math.log(1e27)).map(math.exp)
accounts = st.sampled_from(ACCOUNTS)
served = st.one_of(st.just(0.0), st.floats(math.log(1e6), math.log(1e14)).map(math.exp))
stocks = st.one_of(st.just(math.inf), st.floats(math.log(1e6), math.log(1e14)).map(math.exp))
trades = st.builds(Trade, terms=laws, account=accounts, served=served, stock=stocks)
examples = settings(max_examples=40)
# As much of the reducible loss as rounding may take from a comparison of two losses.
ROUNDING = 1e-9
# Where repeats and excess parameters both have saturated, the valley is flat: rounding moves N by as much.
FLAT = 0.02


def reducible(trade, N, D):
    return np.exp(trade.terms.log_reducible(N, D, trade.stock))


@examples
@given(trades, budgets)
def test_no_run_on_a_grid_is_better(trade, budget):
    N = trade.best_within(budget)
    D = trade.tokens_within(budget, N)
    assert trade.total(N, D) == pytest.approx(budget, rel=1e-12)
    best = reducible(trade, N, D)
    for width in (1e-3, 0.1, 3.0, 40.0):
        grid = N * np.exp(np.linspace(-width, width, 301))
        tokens = trade.tokens_within(budget, grid)
        there = tokens >= 1
        assert (reducible(trade, grid[there], tokens[there]) >= best * (1 - ROUNDING)).all()


@examples
@given(trades, budgets)
def test_no_run_on_a_grid_reaches_the_loss_for_less(trade, budget):
    N = trade.best_within(budget)
    target = trade.loss(N, trade.tokens_within(budget, N))
    if not target > trade.terms.floor(trade.stock) + 1e-6:
        return  # so close to the end that rounding decides
    found = trade.cheapest_to(target)
    D = trade.tokens_to(target, found)
    cost = trade.total(found, D)
    # The two questions have one answer: the least loss for this budget costs this budget.
    assert cost == pytest.approx(budget, rel=1e-4)
    assert trade.loss(found, D) == pytest.approx(target, rel=1e-9)
    for width in (1e-2, 0.5, 10.0):
        grid = found * np.exp(np.linspace(-width, width, 301))
        tokens = trade.tokens_to(target, grid)
        there = np.isfinite(tokens)
        assert (trade.total(grid[there], tokens[there]) >= cost * (1 - 1e-6)).all()


@examples
@given(laws, budgets)
def test_six_n_d_is_in_closed_form_and_the_search_finds_the_same(terms, budget):
    N = Trade(terms).best_within(budget)
    D = Trade(terms).tokens_within(budget, N)
    assert budget == pytest.approx(6 * N * D, rel=1e-12)
    condition = terms.alpha * terms.A * N**-terms.alpha
    assert condition == pytest.approx(terms.beta * terms.B * D**-terms.beta, rel=1e-9)
    if N > 10 and D > 10:
        barely = Trade(terms, served=1e-9 * float(D))  # served, so that it has to be searched
        assert barely.best_within(budget) == pytest.approx(N, rel=1e-5)


@examples
@given(trades, budgets, st.floats(1.0, 100.0))
def test_more_to_spend_is_never_worse(trade, budget, more):
    losses = [
        reducible(trade, N, trade.tokens_within(C, N))
        for C in (budget, budget * more)
        for N in [trade.best_within(C)]
    ]
    assert losses[1] <= losses[0] * (1 + ROUNDING)


@examples
@given(laws, accounts, served, budgets, stocks, st.floats(1.0, 100.0))
def test_more_data_is_never_worse_and_endless_data_is_the_plain_law(
    terms, account, served, budget, stock, more
):
    few, many, huge, plain = (
        Trade(terms, account, served, each) for each in (stock, stock * more, 1e60, math.inf)
    )

    def best(trade):
        N = trade.best_within(budget)
        return N, reducible(trade, N, trade.tokens_within(budget, N))

    assert best(many)[1] <= best(few)[1] * (1 + ROUNDING)
    assert best(huge)[0] == pytest.approx(best(plain)[0], rel=1e-5)
    assert best(huge)[1] == pytest.approx(best(plain)[1], rel=1e-9)


@examples
@given(laws, accounts, budgets, st.floats(math.log(1e6), math.log(1e14)), stocks)
def test_demand_makes_the_model_smaller(terms, account, budget, log_served, stock):
    idle, busy, busier = (
        Trade(terms, account, T, stock) for T in (0.0, math.exp(log_served), 10 * math.exp(log_served))
    )
    N = [trade.best_within(budget) for trade in (idle, busy, busier)]
    assert N[0] * (1 + FLAT) >= N[1]
    assert N[1] * (1 + FLAT) >= N[2]
    target = idle.loss(N[0], idle.tokens_within(budget, N[0]))
    if target > idle.terms.floor(stock) + 1e-6:
        N = [trade.cheapest_to(target) for trade in (idle, busy, busier)]
        assert N[0] * (1 + FLAT) >= N[1]
        assert N[1] * (1 + FLAT) >= N[2]


@examples
@given(trades, budgets, st.floats(0.1, 1000.0))
def test_what_is_held_is_met(trade, budget, ratio):
    N = trade.at_ratio_within(budget, ratio)
    assert trade.total(N, ratio * N) == pytest.approx(budget, rel=1e-8)
    assert trade.parameters_within(budget, ratio * N) == pytest.approx(N, rel=1e-8)
    if trade.serving(N) < 0.999 * budget:
        assert trade.tokens_within(budget, N) == pytest.approx(ratio * N, rel=1e-4)


def test_ten_times_the_stock_is_not_enough_for_a_loss_below_its_floor():
    trade = Trade(Terms(1.8172, 482.01, 2085.43, 0.3478, 0.3658), stock=1e9)
    floor = trade.terms.floor(1e9)
    assert np.isnan(trade.cheapest_to(floor * 0.999))
    assert np.isfinite(trade.cheapest_to(floor * 1.001))


def test_a_smaller_model_serves_two_trillion_tokens_for_a_sixth_less():
    """Sardana and Frankle 2024, figure 1: 7B instead of a compute-optimal 13B saves 1.7e22 FLOPs, 17 %."""
    trade = Trade(Terms(1.69, 406.4, 410.7, 0.336, 0.283), served=2e12)
    a, _ = allocation.exponents(0.336, 0.283)
    D = (13e9 / allocation.optimum_scale(406.4, 410.7, 0.336, 0.283)) ** (1 / a) / 13e9
    target, plain = trade.loss(13e9, D), trade.total(13e9, D)
    small = trade.total(7e9, trade.tokens_to(target, 7e9))
    assert plain - small == pytest.approx(1.7e22, rel=0.01)
    assert 1 - small / plain == pytest.approx(0.17, abs=0.005)
    best = trade.cheapest_to(target)
    assert trade.total(best, trade.tokens_to(target, best)) <= small
    assert best < 13e9
