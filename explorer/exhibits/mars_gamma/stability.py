"""What gamma does to a quadratic: the largest stable step, and the exact spread of a noisy one.

Derived here, from x_{t+1} = x_t - eta m_t with m_t = b1 m_{t-1} + (1 - b1) c_t and no clipping. On a curvature h the
noise-free update has the characteristic polynomial

    (z - 1)(z - b1) + eta h [(1 - b1 + gamma b1) z - gamma b1] = 0.
"""

from __future__ import annotations

import numpy as np

from explorer.exhibits.mars_gamma.law import Values


def edge(gamma: Values, b1: Values) -> np.ndarray:
    """Largest stable eta h: 2 (1 + b1) / (1 - b1 + 2 gamma b1), where the root z = -1 is reached.

    Momentum alone stands 2 (1 + b1) / (1 - b1), MVR 2 (at any b1, as gradient descent): 39 times less at b1 = 0.95.
    """
    return 2 * (1 + b1) / (1 - b1 + 2 * np.asarray(gamma, float) * b1)


def gamma_at_edge(eta_h: Values, b1: Values) -> np.ndarray:
    """The largest gamma that is stable at eta h; may be above 1 (all are stable) or below 0 (none is)."""
    return (2 * (1 + b1) / np.asarray(eta_h, float) - (1 - b1)) / (2 * b1)


def spectral_radius(gamma: Values, eta_h: Values, b1: Values) -> np.ndarray:
    """Factor by which the noise-free iterate grows or shrinks a step in the long run; 1 at the edge."""
    gamma, eta_h = np.asarray(gamma, float), np.asarray(eta_h, float)
    middle = 1 + b1 - eta_h * (1 - b1 + gamma * b1)  # the sum of the two roots
    product = (b1 - eta_h * gamma * b1).astype(complex)
    root = np.sqrt(middle**2 / 4 - product)
    return np.maximum(np.abs(middle / 2 + root), np.abs(middle / 2 - root))


def second_moments(
    gamma: Values,
    eta: Values,
    h: Values,
    noise_h: Values,
    noise_g: Values,
    b1: Values,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The linear recursion of u = (x_t, x_{t-1}, m_{t-1}) for the gradient (h + noise_h z1) x + noise_g z2.

    z1, z2 are standard normal, drawn anew each step and the same at x_t and x_{t-1}:
    u' = (A + z1 B) u + z2 q, so that E u u' = S obeys S' = A S A^T + B S B^T + q q^T.

    Returns:
        A (..., 3, 3), B (..., 3, 3) and q (..., 3) over the broadcast shape of the arguments.
    """
    gamma, eta, h, noise_h, noise_g, b1 = np.broadcast_arrays(gamma, eta, h, noise_h, noise_g, b1)
    a, keep = 1 - b1, gamma * b1
    zero, one = np.zeros(gamma.shape), np.ones(gamma.shape)
    row = np.stack([h * (a + keep), -h * keep, b1], axis=-1)
    noisy = np.stack([noise_h * (a + keep), -noise_h * keep, zero], axis=-1)
    effect = np.stack([-eta, zero, one], axis=-1)
    still = np.zeros((3, 3))
    still[:2, 0] = 1
    A = still + effect[..., :, None] * row[..., None, :]
    B = effect[..., :, None] * noisy[..., None, :]
    return A, B, effect * (a * noise_g)[..., None]


def stationary_spread(
    gamma: Values,
    eta: Values,
    h: Values,
    noise_h: Values,
    noise_g: Values,
    b1: Values,
) -> np.ndarray:
    """E x^2 in the long run, exactly; NaN where the second moment grows without bound.

    S = (I - A x A - B x B)^-1 q q^T. The recursion maps positive matrices to positive ones, so a solution that is
    positive semidefinite exists only where it is stable.
    """
    A, B, q = second_moments(gamma, eta, h, noise_h, noise_g, b1)
    shape = q.shape[:-1]
    system = np.eye(9) - _kronecker(A) - _kronecker(B)
    right = (q[..., :, None] * q[..., None, :]).reshape(*shape, 9, 1)
    try:
        S = np.linalg.solve(system, right).reshape(*shape, 3, 3)
    except np.linalg.LinAlgError:  # exactly on the edge
        return np.full(shape, np.nan)
    least = np.linalg.eigvalsh((S + np.swapaxes(S, -1, -2)) / 2)[..., 0]
    size = np.trace(S, axis1=-2, axis2=-1)
    return np.where((size > 0) & (least >= -1e-9 * np.abs(size)), S[..., 0, 0], np.nan)


def mean_spread(
    first: int, last: int, gamma: Values, eta: Values, h: Values, noise_h: Values, noise_g: Values, b1: Values
) -> np.ndarray:
    """Mean of E x_t^2 over t = first + 1 ... last from x = 0, exactly, whether it settles or not."""
    A, B, q = second_moments(gamma, eta, h, noise_h, noise_g, b1)
    fresh = q[..., :, None] * q[..., None, :]
    A_turned, B_turned = np.swapaxes(A, -1, -2), np.swapaxes(B, -1, -2)
    S, total = np.zeros_like(fresh), np.zeros(q.shape[:-1])
    for t in range(1, last + 1):
        S = A @ S @ A_turned + B @ S @ B_turned + fresh
        if t > first:
            total += S[..., 0, 0]
    return total / (last - first)


def _kronecker(M: np.ndarray) -> np.ndarray:
    """M x M of each matrix (..., 3, 3), as (..., 9, 9)."""
    return np.einsum("...ij,...kl->...ikjl", M, M).reshape(*M.shape[:-2], 9, 9)
