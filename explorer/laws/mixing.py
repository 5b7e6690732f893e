"""Laws of data mixing: the loss of every domain as a function of the weights of the mixture.

Dai and Zheng 2026, arXiv 2606.08167, "Explaining Data Mixing Scaling Laws": a model of N parameters reads D tokens,
of which a share h_i comes from domain i, and

    L_i(h, N, D) = c_i x_i^(-b_i) + A_i (D h_i)^(-a_i) + E_i
    x = argmin sum_i h_i c_i x_i^(-b_i)   such that   sum_i x_i = N + (K - 1) H,   x_i >= H

Each domain owns x_i of the model's capacity: a head of size H that all share, and a tail of its own. Training splits
the tails as the weighted loss wants it, so that every domain's loss hangs on all weights; the second term is noise,
which falls with the domain's own tokens.

Ye et al. 2024, arXiv 2403.16952, "Data Mixing Laws", have no N and D:  L_i(r) = c_i + k_i exp(sum_j t_ij r_j).

Everywhere K is the number of domains; mixtures h have the shape (..., K); N and D broadcast with (...); b, c, a, A, E
have the shape (K,); H is a number. Losses are in nats per token; units of N, D and H are those in which the
coefficients are given. Nothing is raised: values without a meaning give NaN or infinity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

FLOOR = 1e-4
"""A weight below this counts as this: without any token of a domain its noise would be infinite."""
NEWTON_STEPS = 60
OPTIMUM_STEPS = 20
_DIFFERENCE, _SETTLED = 1e-5, 1e-3


class Coefficients(NamedTuple):
    """The 5 K + 1 numbers of the law.

    Args:
        b: exponents of capacity, (K,).
        c: scales of capacity, nats times (unit of N)^b, (K,).
        a: exponents of the noise, (K,).
        A: scales of the noise, nats times (unit of D)^a, (K,).
        E: floors, nats per token, (K,).
        H: size of the shared head, in the unit of N.
    """

    b: np.ndarray
    c: np.ndarray
    a: np.ndarray
    A: np.ndarray
    E: np.ndarray
    H: float

    @classmethod
    def of(
        cls, b: ArrayLike, c: ArrayLike, a: ArrayLike, A: ArrayLike, E: ArrayLike, H: float
    ) -> Coefficients:
        """From any sequences of numbers."""
        b, c, a, A, E = (np.asarray(one, float) for one in (b, c, a, A, E))
        return cls(b, c, a, A, E, float(H))

    @property
    def domains(self) -> int:
        """Number of domains K."""
        return len(self.b)


class Split(NamedTuple):
    """How the capacity is split: x (..., K), and the price lambda of capacity (...), NaN where nothing can be split."""

    x: np.ndarray
    price: np.ndarray


class Terms(NamedTuple):
    """The three parts of each domain's loss, (..., K) each."""

    capacity: np.ndarray
    noise: np.ndarray
    floor: np.ndarray

    @property
    def loss(self) -> np.ndarray:
        return self.capacity + self.noise + self.floor


def split_capacity(h: ArrayLike, N: ArrayLike, b: ArrayLike, c: ArrayLike, H: float) -> Split:
    """The split that makes sum_i h_i c_i x_i^(-b_i) least, with sum x = N + (K - 1) H and x_i >= H.

    Where a domain has more than the head, h_i b_i c_i x_i^(-b_i - 1) equals one price lambda, so
    x_i = max(H, (h_i b_i c_i / lambda)^(1 / (b_i + 1))). In u = -ln lambda the logarithm of the sum is increasing and
    convex: Newton steps that start where it is too large come down to the root without passing it.

    Where N <= H there is nothing to split: x = H everywhere, and the price is NaN.
    """
    h, b, c = (np.asarray(one, float) for one in (h, b, c))
    K = h.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gain = np.log(np.maximum(h, FLOOR) * b * c)
        head = np.log(H)
        budget = np.asarray(N, float)[..., None] + (K - 1) * H
        log_budget = np.log(budget)
        power = b + 1
        u = ((log_budget * power) - gain).min(
            axis=-1, keepdims=True
        )  # here one domain alone fills the budget
        u, log_budget = np.broadcast_arrays(u, log_budget)
        tolerance = 1e-8  # of the last step; the error left is about its square
        for _ in range(NEWTON_STEPS):
            own = (gain + u) / power
            x = np.exp(np.maximum(own, head))
            total = x.sum(axis=-1, keepdims=True)
            excess = np.log(total) - log_budget
            slope = (np.where(own > head, x, 0.0) / power).sum(axis=-1, keepdims=True) / total
            move = np.where(slope > 0, excess / np.where(slope > 0, slope, 1.0), 0.0)
            u = u - move
            if not np.any(np.abs(move) > tolerance * (1 + np.abs(u))):
                break
        x = np.exp(np.maximum((gain + u) / power, head))
        possible = np.asarray(N, float)[..., None] > H
        x = np.where(possible, x, H)
        price = np.where(possible, np.exp(-u), np.nan)[..., 0]
    return Split(x, price)


def terms(h: ArrayLike, N: ArrayLike, D: ArrayLike, coefficients: Coefficients) -> Terms:
    """Capacity, noise and floor of each domain's loss."""
    b, c, a, A, E, H = coefficients
    h = np.asarray(h, float)
    x = split_capacity(h, N, b, c, H).x
    tokens = np.maximum(h, FLOOR) * np.asarray(D, float)[..., None]
    with np.errstate(over="ignore", divide="ignore"):
        capacity, noise = c * x**-b, A * tokens**-a
    capacity, noise, floor = np.broadcast_arrays(capacity, noise, E)
    return Terms(capacity, noise, floor)


def loss(h: ArrayLike, N: ArrayLike, D: ArrayLike, coefficients: Coefficients) -> np.ndarray:
    """Loss of every domain, (..., K)."""
    return terms(h, N, D, coefficients).loss


def mean_loss(h: ArrayLike, N: ArrayLike, D: ArrayLike, coefficients: Coefficients) -> np.ndarray:
    """Mean of the domains' losses, (...): each domain counts the same, however small its weight is."""
    return loss(h, N, D, coefficients).mean(axis=-1)


def jacobian(h: ArrayLike, N: ArrayLike, D: ArrayLike, coefficients: Coefficients) -> np.ndarray:
    """d L_i / d theta, (..., K, 5 K + 1), for theta = ln b, ln c, ln a, ln A, E (K each), ln H.

    Exact: the split follows its conditions, which are differentiated implicitly. With q_i = x_i / (b_i + 1) over the
    domains that have more than the head, (b_i + 1) d ln x_i = d ln b_i + d ln c_i - ln x_i d b_i + du, and du makes the
    sum of the x_i follow its budget.
    """
    b, c, a, A, _, H = coefficients
    h, D = np.asarray(h, float), np.asarray(D, float)
    K = len(b)
    x = split_capacity(h, N, b, c, H).x
    tail = x > H * (1 + 1e-12)
    q = np.where(tail, x / (b + 1), 0.0)
    weight = q.sum(axis=-1, keepdims=True)
    share = np.divide(q, weight, out=np.zeros_like(q), where=weight > 0)
    log_x = np.log(x)

    each = np.eye(K)
    pull = 1 - b * log_x  # of d ln b_i on (b_i + 1) d ln x_i, beside du
    answer = np.where(tail, 1 / (b + 1), 0.0)[..., None]  # of ln x_i to its own pull and to du
    by_c = answer * (each - share[..., None, :])
    by_b = answer * (each * pull[..., None, :] - (share * pull)[..., None, :])
    spare = (K - 1) - np.where(tail, 0.0, 1.0).sum(axis=-1, keepdims=True)
    du = np.divide(spare * H, weight, out=np.zeros_like(weight), where=weight > 0)
    by_H = np.where(tail, du / (b + 1), 1.0)

    capacity = c * x**-b
    steep = (-b * capacity)[..., None]
    log_tokens = np.log(np.maximum(h, FLOOR) * D[..., None])
    noise = A * np.exp(-a * log_tokens)
    shape = np.broadcast_shapes((*x.shape, K), (*noise.shape, K))
    parts = [
        steep * by_b + each * (-b * log_x * capacity)[..., None],
        steep * by_c + each * capacity[..., None],
        each * (-a * log_tokens * noise)[..., None],
        each * noise[..., None],
        each,
        steep * by_H[..., None],
    ]
    return np.concatenate([np.broadcast_to(p, (*shape[:-1], p.shape[-1])) for p in parts], axis=-1)


def mean_slope(h: ArrayLike, N: ArrayLike, D: ArrayLike, coefficients: Coefficients) -> np.ndarray:
    """d (mean loss) / d ln h_i, (..., K), as if the other weights stayed; zero for a weight below the floor."""
    return _mean_and_slope(np.asarray(h, float), N, D, coefficients)[1]


def _mean_and_slope(
    h: np.ndarray, N: ArrayLike, D: ArrayLike, coefficients: Coefficients
) -> tuple[np.ndarray, np.ndarray]:
    """Mean loss (...) and its slopes (..., K) from one split."""
    b, c, a, A, E, H = coefficients
    x = split_capacity(h, N, b, c, H).x
    capacity = c * x**-b
    noise = A * (np.maximum(h, FLOOR) * np.asarray(D, float)[..., None]) ** -a
    tail = x > H * (1 + 1e-12)
    q = np.where(tail, x / (b + 1), 0.0)
    weight = q.sum(axis=-1, keepdims=True)
    share = np.divide(q, weight, out=np.zeros_like(q), where=weight > 0)
    steep = np.where(tail, b / (b + 1) * capacity, 0.0)
    slope = share * steep.sum(axis=-1, keepdims=True) - steep - a * noise
    return (capacity + noise + E).mean(axis=-1), np.where(h > FLOOR, slope, 0.0) / len(b)


def best_mixture(
    N: ArrayLike, D: ArrayLike, coefficients: Coefficients, start: ArrayLike | None = None
) -> np.ndarray:
    """The mixture with the least mean loss, (..., K), every weight at least 1e-4; N and D may be arrays.

    Args:
        start: mixtures (..., K) near the best ones, where such are known; they save the search for a start.

    Damped Newton steps in the weights' logits, all (N, D) at once; second derivatives are differences of exact first
    ones. Where a domain starts to get more than the head the mean loss has a kink; steps that would raise it are
    refused and shortened.
    """
    N, D = np.broadcast_arrays(np.asarray(N, float), np.asarray(D, float))
    K, problems = coefficients.domains, N.size
    size, data = N.reshape(-1, 1), D.reshape(-1, 1)
    if start is not None:
        logits = np.log(np.broadcast_to(np.asarray(start, float), (*N.shape, K)).reshape(-1, K).clip(FLOOR))
    else:
        # Each from two starts: the uniform mixture, and the best of those that give one domain little or much.
        corners = np.concatenate([-3.0 * np.eye(K), 2.0 * np.eye(K)])
        means = mean_loss(_weights(corners)[1], size, data, coefficients)
        logits = np.concatenate([np.zeros((problems, K)), corners[means.argmin(axis=-1)]])
        size, data = (np.tile(one, (2, 1)) for one in (size, data))
    left, found = np.arange(len(logits)), np.empty(len(logits))
    probes = np.concatenate([np.zeros((1, K)), _DIFFERENCE * np.eye(K)])

    def look(y: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean loss, its slopes and second derivatives in the logits y (n, K) of the problems `of`."""
        p, h = _weights(y[:, None] + probes)
        mean, slope = _mean_and_slope(h, size[of], data[of], coefficients)
        by_share = (1 - K * FLOOR) * slope / h
        slopes = p * (by_share - (p * by_share).sum(axis=-1, keepdims=True))
        second = (slopes[:, 1:] - slopes[:, :1]) / _DIFFERENCE
        return mean[:, 0], slopes[:, 0], (second + second.transpose(0, 2, 1)) / 2

    damping = np.full(len(logits), 1e-3)
    mean, slope, second = look(logits, left)
    for _ in range(OPTIMUM_STEPS):
        curve, along = np.linalg.eigh(second)
        stiff = np.abs(curve).max(axis=-1, keepdims=True)
        pull = (along * slope[..., None]).sum(axis=1) / (
            np.abs(curve) + (1e-6 + damping[left, None]) * stiff + 1e-300
        )
        move = -(along * pull[:, None]).sum(axis=-1)
        move *= np.minimum(1.0, 2.0 / np.maximum(np.abs(move).max(axis=-1, keepdims=True), 1e-300))
        there, there_slope, there_second = look(logits[left] + move, left)
        better = there <= mean
        logits[left] += np.where(better[:, None], move, 0.0)
        damping[left] = np.where(better, damping[left] / 10, damping[left] * 10)
        far = (np.abs(move).max(axis=-1) > _SETTLED) & ~(better & (mean - there < 1e-13))
        found[left] = mean = np.where(better, there, mean)
        mean = mean[far]
        slope = np.where(better[:, None], there_slope, slope)[far]
        second = np.where(better[:, None, None], there_second, second)[far]
        left = left[far]
        if not len(left):
            break
    if start is None:
        second_start = found[problems:] < found[:problems]
        logits = np.where(second_start[:, None], logits[problems:], logits[:problems])
    return _weights(logits)[1].reshape(*N.shape, K)


def _weights(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Softmax of logits (..., K), and the same kept above the floor."""
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    return p, FLOOR + (1 - logits.shape[-1] * FLOOR) * p


def exponential_loss(r: ArrayLike, c: ArrayLike, k: ArrayLike, t: ArrayLike) -> np.ndarray:
    """c_i + k_i exp(sum_j t_ij r_j), (..., M), of M measured domains and a mixture r (..., K) (Ye et al. 2024, eq. 6).

    c and k are in nats per token, (M,); t are pure numbers, (M, K).
    """
    r, c, k, t = (np.asarray(one, float) for one in (r, c, k, t))
    return c + k * np.exp(r @ t.T)


def linear_loss(r: ArrayLike, intercept: ArrayLike, slope: ArrayLike) -> np.ndarray:
    """intercept_i + sum_j slope_ij r_j, (..., M): the straight line that any law of mixing has to beat."""
    r, intercept, slope = (np.asarray(one, float) for one in (r, intercept, slope))
    return intercept + r @ slope.T
