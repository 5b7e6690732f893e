"""Thinning keeps what a reader of the curve would miss."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sample_run import LOSS, new_run

from explorer.records import Point
from explorer.runs import Store, kept, log_spaced

curves = arrays(float, st.integers(1, 3000), elements=st.floats(-1e6, 1e6))


@given(curves, st.integers(0, 300))
def test_keeps_first_last_lowest_and_highest(y, most):
    indices = kept(y, most)
    assert indices[0] == 0 and indices[-1] == len(y) - 1
    assert y[indices].min() == y.min() and y[indices].max() == y.max()
    assert (np.diff(indices) > 0).all() and len(indices) <= max(most, 4)


@given(curves, st.integers(4, 300))
def test_the_same_curve_is_thinned_the_same_way(y, most):
    assert (kept(y, most) == kept(y.copy(), most)).all()


@given(st.integers(0, 10**6), st.integers(2, 2 * 10**6), st.integers(2, 600))
def test_log_spaced_is_exactly_as_many_as_asked(start, count, most):
    indices = log_spaced(start, start + count, most)
    assert len(indices) == min(count, most)
    assert indices[0] == start and indices[-1] == start + count - 1
    gaps = np.diff(indices)
    assert (gaps > 0).all() and (gaps[1:] >= gaps[:-1] - 1).all()


def test_the_store_thins_as_the_function_does(tmp_path):
    y = np.random.default_rng(1).normal(size=5000)
    with Store(tmp_path / "runs.sqlite") as store:
        run_id = new_run(store)
        store.append(run_id, [LOSS])
        for part in np.array_split(np.arange(5000), 7):  # extremes must hold over batches
            store.append(run_id, [Point(LOSS.key, int(n), y[n]) for n in part])
        for most in (0, 10, 500, 4999, 5000, 6000):
            _, x, thinned = store.measured(run_id, most)[LOSS.key]
            expected = kept(y, most)
            assert x.tolist() == expected.tolist() and thinned.tolist() == y[expected].tolist()
