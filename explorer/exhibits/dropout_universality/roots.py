"""Roots of many functions of one variable at once, each kept between two bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

MOST_STEPS = 80
PRECISION = 1e-13


def bracketed_roots(
    function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """A root of every function between `low` and `high`, where its values have opposite signs (Chandrupatla 1997).

    Inverse quadratic steps where they are safe, halving where they are not.

    Args:
        function: takes and gives arrays of shape (n,).
        low, high: (n,) each.

    Returns:
        (n,) float64, each to `PRECISION` of itself.
    """
    a, b = np.array(high, float), np.array(low, float)
    fa, fb = function(a), function(b)
    with np.errstate(all="ignore"):
        share = np.nan_to_num(np.clip(fa / (fa - fb), 0.0, 1.0), nan=0.5)
    best = b
    for _ in range(MOST_STEPS):
        x = a + share * (b - a)
        fx = function(x)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        nearer = np.abs(fa) < np.abs(fb)
        best, f_best = np.where(nearer, a, b), np.where(nearer, fa, fb)
        with np.errstate(all="ignore"):
            least = PRECISION * np.abs(best) / np.abs(b - a)
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            quadratic = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        done = (f_best == 0) | ~(least < 0.5)
        if done.all():
            break
        share = np.where(safe, quadratic, 0.5)
        share = np.where(done, 0.0, np.clip(share, least, 1 - least))
    return best
