"""Laws as candidates: published constants by name, fits with their ranges and members."""

import numpy as np
import pytest

from explorer.errors import BadInput
from explorer.fitting import fit
from explorer.laws import law
from explorer.planning import COMPARED, PUBLISHED, Candidate, fitted, published, terms_of


def runs(columns=("N", "D"), noise=0.0):
    N = np.repeat(np.geomspace(1e7, 1e9, 6), 5)
    D = np.tile(np.geomspace(3e8, 3e10, 5), 6)
    loss = law("chinchilla").predict({"N": N, "D": D}, **law("chinchilla").defaults)
    loss = loss * np.exp(noise * np.random.default_rng(0).standard_normal(len(N)))
    given = {"N": N, "D": D, "C": 6 * N * D, "M": D / N, "U": D}
    return {name: given[name] for name in columns}, loss


def test_every_published_name_predicts():
    assert set(COMPARED) <= set(PUBLISHED)
    for name in PUBLISHED:
        found = published(name)
        assert found.name == name
        assert "arXiv" in found.source
        assert 1 < found.terms.loss(1e9, 2e10) < 4
    assert published("hoffmann-printed").name == "hoffmann"
    assert published("kaplan").notes


def test_an_unknown_name_is_told_with_near_ones():
    with pytest.raises(BadInput, match=r"no published constants 'hofman'\. Did you mean 'hoffmann'"):
        published("hofman")
    with pytest.raises(BadInput, match=r"constants 'x'\. Choose from: hoffmann"):
        published("x")


def test_ranges_of_compute_come_from_those_of_size_and_data_where_not_known():
    assert published("hoffmann").ranges["C"] == (6 * 44e6 * 5e9, 6 * 16e9 * 5e11)
    assert published("besiroglu").ranges["C"][1] == 1.296e22
    assert "C" not in published("kaplan").ranges


def test_ranges_of_the_replication_are_those_of_its_points(shared_data):
    table = np.genfromtxt(shared_data / "chinchilla_epoch" / "chinchilla_245.csv", delimiter=",", names=True)[
        5:
    ]
    N, D = table["params"], table["tokens"]
    for name, values in {"C": 6 * N * D, "N": N, "D": D, "D/N": D / N}.items():
        assert published("besiroglu").ranges[name] == pytest.approx((values.min(), values.max()), rel=2e-3), (
            name
        )


@pytest.mark.parametrize("name", ["chinchilla", "over-training"])
def test_a_fit_brings_its_ranges_and_members(name):
    columns, losses = runs(law(name).variables, noise=0.003)
    found = fit(law(name), columns, losses)
    candidate = fitted(found, columns, found.resample(20), name="mine")
    assert candidate.name == "mine"
    assert candidate.own_runs
    assert candidate.ranges["N"] == pytest.approx((1e7, 1e9))
    assert candidate.ranges["D"] == pytest.approx((3e8, 3e10))
    assert candidate.ranges["C"] == pytest.approx((6 * 3e15, 6 * 3e19))
    assert candidate.ranges["D/N"] == pytest.approx((0.3, 3000))
    assert candidate.members.loss(1e9, 2e10).shape == (20,)
    assert candidate.terms.loss(1e9, 2e10) == pytest.approx(
        terms_of(name, found.coefficients).loss(1e9, 2e10), rel=1e-12
    )
    assert fitted(found, columns).members is None


def test_an_ensemble_of_another_law_is_refused():
    columns, losses = runs()
    found = fit(law("chinchilla"), columns, losses)
    other = fit(law("kaplan"), columns, losses).resample(2)
    with pytest.raises(BadInput, match="ensemble is of the law 'kaplan'"):
        fitted(found, columns, other)


def test_own_coefficients_need_no_fit():
    mine = Candidate("mine", "Mine", "made up", terms_of("chinchilla", law("chinchilla").defaults))
    assert mine.terms.loss(7e10, 1.4e12) == pytest.approx(1.9738819, abs=1e-7)
    assert mine.ranges == {}
