"""How FLOPs are counted: what a token costs in training and when it is served."""

from __future__ import annotations

from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import BadInput

ACCOUNTS = ("6ND", "6ND + head", "6ND + head + attention")
"""The ways of counting; "head" and "attention" are understood too."""

_ASPECT, _VOCABULARY, _CONTEXT = 128, 32_000, 2_048


def find_account(name: str) -> str:
    """The account called `name`, one of `ACCOUNTS`.

    Raises:
        BadInput: there is none.
    """
    short = {"".join(one.lower().split()): one for one in ACCOUNTS} | {
        "head": ACCOUNTS[1],
        "attention": ACCOUNTS[2],
    }
    plain = "".join(str(name).lower().split())
    if plain not in short:
        near = get_close_matches(plain, short, 1)
        told = f"Did you mean {short[near[0]]!r}? " if near else ""
        raise BadInput(f"FLOPs are not counted as {name!r}. {told}Choose from: {', '.join(ACCOUNTS)}.")
    return short[plain]


def training_flops_per_token(N: ArrayLike, account: str = "6ND") -> np.ndarray:
    """FLOPs of a forward and a backward pass over one token.

    6N for the parameters; the output head adds 6 d V; attention adds 12 L T d (Porian et al. 2024 show what leaving
    them out does). Width d and depth L follow from N = 12 L d^2 with d / L = 128; V = 32,000 and T = 2,048.

    Args:
        N: parameters, any shape; those of the embeddings are left out where the head is counted.
        account: one of `ACCOUNTS`.
    """
    N = np.asarray(N, float)
    flops = 6 * N
    if account == ACCOUNTS[0]:
        return flops
    width = (N * _ASPECT / 12) ** (1 / 3)
    flops = flops + 6 * width * _VOCABULARY
    return flops if account == ACCOUNTS[1] else flops + 12 * (width / _ASPECT) * _CONTEXT * width


def serving_flops_per_token(N: ArrayLike, account: str = "6ND") -> np.ndarray:
    """FLOPs of one served token: a forward pass alone, a third of a training token; 2N under 6ND."""
    return training_flops_per_token(N, account) / 3
