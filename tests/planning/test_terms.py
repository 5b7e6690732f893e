"""The common form against the laws it stands for."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.laws import LAWS, data_constrained, law, published
from explorer.planning import FAMILY, terms_of
from explorer.planning.terms import Terms

N, D = np.geomspace(1e7, 1e12, 6), np.geomspace(1e9, 1e13, 5)[:, None]


def test_every_general_law_has_the_form():
    assert set(FAMILY) == set(LAWS)
    with pytest.raises(BadInput, match="cannot be planned by the law 'mixing'"):
        terms_of("mixing", {})


@pytest.mark.parametrize("name", FAMILY)
def test_the_form_predicts_what_the_law_does(name):
    variables = {
        "over-training": {"C": 6 * N * D, "M": D / N},
        "data-constrained": {"N": N, "D": D, "U": D},
    }.get(name, {"N": N, "D": D})
    expected = law(name).predict(variables, **law(name).defaults)
    found = terms_of(name, law(name).defaults).loss(N, D, D if name == "data-constrained" else np.inf)
    assert found == pytest.approx(expected, rel=1e-12)


def test_repetition_is_that_of_the_law_once_the_stock_is_used_up():
    numbers = published.DATA_CONSTRAINED["muennighoff-c4"].coefficients
    terms = terms_of("data-constrained", numbers)
    for stock in (1e8, 1e9):
        expected = data_constrained.loss(N, D, stock, **numbers)
        assert terms.loss(N, D, stock) == pytest.approx(expected, rel=1e-13)
    # The value that the authors' code prints.
    assert terms.loss(6.34e9, 242e9, 25e9) == pytest.approx(2.2256440890, abs=1e-9)


def test_members_are_many_laws_at_once():
    several = [terms_of("chinchilla", {**law("chinchilla").defaults, "alpha": a}) for a in (0.3, 0.34, 0.4)]
    stacked = Terms.stack(several)
    assert stacked.loss(1e9, 1e11) == pytest.approx(
        [float(one.loss(1e9, 1e11)) for one in several], rel=1e-14
    )


def test_tokens_undo_the_loss_with_and_without_repeats():
    terms = terms_of("data-constrained", law("data-constrained").defaults)
    for stock in (np.inf, 1e12, 1e10, 1e9):
        tokens = np.geomspace(1e8, 3e10, 7)
        assert terms.tokens(terms.loss(1e8, tokens, stock), 1e8, stock) == pytest.approx(tokens, rel=1e-6)
    assert np.isnan(terms.tokens(terms.E, 1e8))
    assert np.isnan(terms.tokens(terms.loss(1e8, 1e13), 1e8, 1e9))


def test_no_run_gets_under_the_floor():
    terms = terms_of("data-constrained", law("data-constrained").defaults)
    assert terms.floor() == terms.E
    for stock in (1e6, 1e9, 1e12):
        floor = terms.floor(stock)
        assert terms.loss(1e20, 1e24, stock) == pytest.approx(floor, rel=1e-9)
        assert (terms.loss(N, D, stock) >= floor).all()
