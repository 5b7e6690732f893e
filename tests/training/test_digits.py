"""Digits: whole, split by seed, with wrong labels where they are asked for."""

import time

import numpy as np
import pytest
import torch

from explorer.errors import BadInput
from explorer.training.digits import digit_task, digits


def test_the_table_is_whole():
    images, labels = digits()
    assert images.shape == (1797, 64)
    assert (images.min(), images.max()) == (0, 1)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert labels[:10].tolist() == list(range(10))
    assert images.sum() == pytest.approx(561718 / 16)


def test_it_is_read_in_no_time():
    start = time.process_time()
    digits.__wrapped__()
    assert time.process_time() - start < 0.2


def test_parts_share_no_image_and_differ_by_seed():
    task = digit_task([0, 1], 300, 1000)
    assert task.images.shape == (2, 300, 64)
    assert task.test_labels.shape == (2, 1000)
    assert not torch.equal(task.images[0], task.images[1])
    assert torch.equal(task.images[1], digit_task([1], 300, 1000).images[0])
    rows = {tuple(row) for row in task.images[0].tolist()}
    assert not rows & {tuple(row) for row in task.test_images[0].tolist()}


def test_pixels_are_centred_on_the_training_part():
    task = digit_task([3], 400, 100)
    assert task.images.mean(dim=1).abs().max() < 1e-6
    assert task.images.std() == pytest.approx(1, rel=1e-3)


def test_a_share_of_the_labels_is_drawn_anew():
    clean, noisy = digit_task([0], 1000, 500), digit_task([0], 1000, 500, noise=0.2)
    assert torch.equal(clean.images, noisy.images)
    assert torch.equal(clean.test_labels, noisy.test_labels)
    changed = (clean.labels != noisy.labels).float().mean().item()
    assert changed == pytest.approx(0.2 * 0.9, abs=0.03)  # one in ten of them stays right


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1000, 900), "there are 1,797"),
        ((0, 10), "0 images"),
        ((100, 100, 1.5), "share of 1.5 random labels"),
    ],
)
def test_what_cannot_be_is_told(arguments, words):
    with pytest.raises(BadInput, match=words):
        digit_task([0], *arguments)
