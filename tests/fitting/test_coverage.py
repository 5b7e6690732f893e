"""Intervals of 90 % hold the truth about as often as they say: a slice of benchmarks/coverage.py with fixed seeds.

Over T tables a share near 0.9 has a standard error of sqrt(0.09 / T): 1.9 points for 250. The limits are the claim,
88 to 92 % for independent noise and 86 to 94 % for runs, widened by 2.6 such errors; the benchmark with 1000 tables
tests the claim itself. The mean over targets has less error, as they are not one number.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def coverage():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def shares(coverage, name, tables, ways, names, seed=1):
    (case,) = (case for case in coverage.CASES if case.name == name)
    return coverage.covered(case, tables, ways, names, seed)


NAMES = ("alpha", "N*", "L outside")
TABLES = 250
ERROR = 2.6 * np.sqrt(0.09 / TABLES)


def test_independent_noise(coverage):
    found = shares(coverage, "plain, 120 points", TABLES, ["profile", "wild"], NAMES)
    for share in found.values():
        assert (share >= 0.88 - ERROR).all()
        assert (share <= 0.92 + ERROR).all()
    assert 0.86 <= np.mean(found["profile"]) <= 0.94


def test_runs_share_their_errors(coverage):
    """What points alone say is far too narrow; intervals over runs hold."""
    ways = ["resampled points", "profile, runs", "wild, runs"]
    tables = 80
    error = 2.6 * np.sqrt(0.09 / tables)
    found = shares(coverage, "clustered: 6 sizes x 3 seeds, 6 checkpoints", tables, ways, NAMES)
    for way in ("profile, runs", "wild, runs"):
        assert (found[way] >= 0.86 - error).all()
        assert np.mean(found[way]) >= 0.82
    assert np.mean(found["resampled points"]) < 0.8
    assert np.mean(found["resampled points"]) < np.mean(found["profile, runs"]) - 0.08
