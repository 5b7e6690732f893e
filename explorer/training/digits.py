"""Handwritten digits: small real images for experiments on classifiers."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from explorer.bundled import bundled
from explorer.errors import BadInput

CLASSES = 10
PIXELS = 64
"""8 x 8, row by row."""
BRIGHTEST = 16.0


@functools.cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """All images and their digits: (1797, 64) float32 in 0 to 1, and (1797,) int64."""
    table = np.loadtxt(bundled("digits.csv.gz"), delimiter=",", skiprows=1, dtype=np.uint8)
    return (table[:, 1:] / BRIGHTEST).astype(np.float32), table[:, 0].astype(np.int64)


@dataclass(frozen=True)
class Task:
    """What S seeds train and are tested on; each has its own split and its own wrong labels.

    Args:
        images: (S, n, 64) float32; each pixel has mean 0 and all of them together deviation 1 on the training part.
        labels: (S, n) int64, some of them drawn at random.
        test_images, test_labels: (S, m, 64) and (S, m), without wrong labels.
    """

    images: Tensor
    labels: Tensor
    test_images: Tensor
    test_labels: Tensor


def digit_task(
    seeds: list[int], training: int, tested: int, noise: float = 0.0, device: torch.device | str = "cpu"
) -> Task:
    """A split for every seed, with a share of the training labels replaced by random ones.

    Args:
        training, tested: images in each part.
        noise: share of training labels that are drawn anew from all ten digits; one in ten of those stays right.

    Raises:
        BadInput: more images than there are, or a share outside 0 to 1.
    """
    pixels, truth = digits()
    if training < 1 or tested < 1 or training + tested > len(truth):
        raise BadInput(
            f"{training:,} images to train on and {tested:,} to test on were asked for; there are {len(truth):,}."
        )
    if not 0 <= noise <= 1:
        raise BadInput(f"A share of {noise:g} random labels was asked for; it has to be 0 to 1.")
    parts = [_split(pixels, truth, training, tested, noise, seed) for seed in seeds]
    return Task(*(torch.stack(part).to(device) for part in zip(*parts, strict=True)))


def _split(
    pixels: np.ndarray, truth: np.ndarray, training: int, tested: int, noise: float, seed: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    rng = np.random.default_rng([seed, 0x0D161])  # apart from the generators of weights, order and masks
    order = rng.permutation(len(truth))
    first, second = order[:training], order[training : training + tested]
    labels = truth[first].copy()
    wrong = rng.permutation(training)[: round(noise * training)]
    labels[wrong] = rng.integers(0, CLASSES, len(wrong))
    mean = pixels[first].mean(axis=0)
    scale = float((pixels[first] - mean).std())
    arrays = ((pixels[first] - mean) / scale, labels, (pixels[second] - mean) / scale, truth[second])
    return tuple(torch.from_numpy(one) for one in arrays)  # type: ignore[return-value]
