"""The law of data mixing as the exhibit draws it: sets of coefficients, cuts, maps, and the best mixture by size.

The formulas are in `explorer.laws.mixing`. N and H are in millions of parameters, D in billions of tokens, losses in
nats per token. What does not hang on the mixture is kept, since a mixture is moved most often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from explorer.laws import mixing
from explorer.laws.mixing import Coefficients
from explorer.simplex import lattice, raster

MAP_STEPS, MAP_WIDTH, MAP_HEIGHT = 40, 121, 105
RIM = 0.03
"""The map and the cuts end at this weight: towards none the noise grows without bound and would hide all else."""
DECADES = 2
"""How far the best mixture is followed to either side of N or D, and in how many points a decade."""
POINTS_A_DECADE = 3


class Key(NamedTuple):
    """Coefficients that can be looked up: tuples, and the head."""

    b: tuple[float, ...]
    c: tuple[float, ...]
    a: tuple[float, ...]
    A: tuple[float, ...]
    E: tuple[float, ...]
    H: float

    @property
    def coefficients(self) -> Coefficients:
        return Coefficients.of(*self)


@dataclass(frozen=True)
class Published:
    """A set of coefficients, and where it comes from."""

    domains: tuple[str, ...]
    key: Key
    N: float
    D: float
    source: str
    natural: tuple[float, ...] | None = None

    @property
    def values(self) -> dict[str, Any]:
        """What the sliders take over; the mixture starts uniform."""
        K = len(self.domains)
        return {**self.key._asdict(), "N": self.N, "D": self.D, "h": (1 / K,) * K}


SETS: dict[str, Published] = {
    # Fits of a sweep like the default one, seeds 100 to 102, widths 16 and 32, last three checkpoints of 154,000
    # characters. N and D are those of the default's larger model.
    "tiny models: prose, code, sums": Published(
        domains=("prose", "code", "sums"),
        key=Key(
            b=(0.84889, 0.010012, 0.029706),
            c=(9.1769e-4, 9.416e-5, 1.436),
            a=(0.052281, 0.057839, 0.93544),
            A=(1.4786, 1.576, 4.948e-6),
            E=(0.0, 0.0, 0.0),
            H=1.6724e-4,
        ),
        N=0.0336,
        D=1.3824e-4,
        source="fitted here",
    ),
    "tiny models: prose, code, names": Published(
        domains=("prose", "code", "names"),
        key=Key(
            b=(1.709, 0.017076, 0.10289),
            c=(2.9984e-6, 1.7653e-4, 0.379),
            a=(0.047737, 0.052535, 0.15932),
            A=(1.5861, 1.659, 0.31621),
            E=(0.0, 1.0678e-4, 0.0),
            H=7.872e-4,
        ),
        N=0.0336,
        D=1.3824e-4,
        source="fitted here",
    ),
    "three domains (example)": Published(
        domains=("first", "second", "third"),
        key=Key((0.3, 0.5, 0.8), (3, 2, 5), (0.3, 0.4, 0.5), (0.5, 1, 0.8), (1.5, 1, 0.7), 0.5),
        N=100,
        D=10,
        source="made up",
    ),
    "SlimPajama, 7 domains (published)": Published(
        domains=("arXiv", "books", "C4", "GitHub", "CommonCrawl", "StackExchange", "Wikipedia"),
        key=Key(
            b=(1.2931, 0.2504, 0.7759, 4.2533, 0.8209, 2.1420, 0.9245),
            c=(6.1217, 3.3571, 7.8612, 7.3098, 2.3083, 3.8489, 2.3059),
            a=(0.9685, 1.6999, 0.3088, 0.0827, 1.0596, 0.0777, 0.5132),
            A=(0.3931, 0.4080, 0.7319, 1.2868, 0.7130, 2.0230, 0.8802),
            E=(0.9448, 0.8770, 0.5612, 0.0, 2.4074, 0.0001, 1.3406),
            H=4.877181,
        ),
        N=1300,
        D=30,
        source="demonstration set in the authors' code",
        # Shares of the 627 billion tokens, as its card gives them.
        natural=(0.046, 0.042, 0.267, 0.052, 0.522, 0.033, 0.038),
    ),
}


@lru_cache(maxsize=64)
def best(key: Key, N: float, D: float) -> tuple[float, ...]:
    """The mixture with the least mean loss, found from its neighbours in `best_by_size`."""
    sizes, weights = best_by_size(key, round(np.log10(N)), D)
    near = [np.interp(np.log(N), np.log(sizes), one) for one in weights.T] if len(sizes) else None
    return tuple(mixing.best_mixture(N, D, key.coefficients, near).tolist())


@lru_cache(maxsize=16)
def mean_map(key: Key, N: float, D: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and mean losses of a picture of the triangle; see `explorer.simplex.raster`."""
    h = np.maximum(lattice(3, MAP_STEPS), RIM)
    h = h / h.sum(axis=1, keepdims=True)
    return raster(mixing.mean_loss(h, N, D, key.coefficients), MAP_STEPS, MAP_WIDTH, MAP_HEIGHT)


@lru_cache(maxsize=16)
def best_by_size(key: Key, decade: int, D: float) -> tuple[np.ndarray, np.ndarray]:
    """N (n,) around 10^decade, all above K H, and the best mixture of each (n, K)."""
    N = _decades(decade)
    N = N[len(key.b) * key.H < N]
    return N, mixing.best_mixture(N, D, key.coefficients)


@lru_cache(maxsize=16)
def best_by_tokens(key: Key, N: float, decade: int) -> tuple[np.ndarray, np.ndarray]:
    """D (n,) around 10^decade, and the best mixture of each (n, K)."""
    D = _decades(decade)
    return D, mixing.best_mixture(N, D, key.coefficients)


def cut(h: Sequence[float], along: int, points: int = 99) -> np.ndarray:
    """Mixtures (points, K) in which one domain's weight runs from 3 % to 97 %; the others keep their proportions."""
    weights = np.asarray(h, float)
    t = np.linspace(RIM, 1 - RIM, points)
    rest = np.where(np.arange(len(weights)) == along, 0.0, weights)
    rest = rest / rest.sum() if rest.sum() > 0 else (np.arange(len(weights)) != along) / (len(weights) - 1)
    mixtures = (1 - t)[:, None] * rest
    mixtures[:, along] = t
    return mixtures


def _decades(middle: int) -> np.ndarray:
    return 10.0 ** (middle + np.linspace(-DECADES, DECADES, 2 * DECADES * POINTS_A_DECADE + 1))
