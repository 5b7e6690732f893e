"""FLOPs per token; the ladder counts in the same way."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.exhibits.ladder import law as ladder
from explorer.planning import ACCOUNTS, find_account, serving_flops_per_token, training_flops_per_token
from explorer.planning.terms import Terms
from explorer.planning.trade import Trade


def test_the_ladder_counts_the_same():
    N = np.geomspace(1e3, 1e13, 41)
    assert ladder.ACCOUNTS == ACCOUNTS
    for account in ACCOUNTS:
        assert training_flops_per_token(N, account) == pytest.approx(
            ladder.flops_per_token(N, account), rel=1e-13
        )
        assert serving_flops_per_token(N, account) == pytest.approx(training_flops_per_token(N, account) / 3)


def test_the_ladder_finds_the_same_optimum():
    numbers = (1.8172, 482.01, 2085.43, 0.3478, 0.3658)
    C = np.geomspace(1e17, 1e26, 10)
    for account in ACCOUNTS:
        trade = Trade(Terms(*numbers), account)
        N, D = ladder.optimum(ladder.Constants(*numbers), C, account)
        found = trade.best_within(C)
        assert found == pytest.approx(N, rel=1e-6)
        assert trade.tokens_within(C, found) == pytest.approx(D, rel=1e-6)


def test_names():
    assert find_account("6nd") == "6ND"
    assert find_account("6ND+head") == find_account("head") == "6ND + head"
    assert find_account("attention") == ACCOUNTS[2]
    with pytest.raises(BadInput, match=r"Did you mean '6ND \+ head'.*Choose from: 6ND, 6ND \+ head"):
        find_account("heads")
