"""Checks of lesson 0."""

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.data.shapes import make_shapes


@pytest.mark.hint(
    "the axes are image, row, column, channel: take the mean over rows and columns, numbers 1 and 2"
)
def test_two_images_of_two_pixels(impl):
    images = np.array([[[[250, 0, 10], [150, 0, 30]]], [[[0, 8, 7], [1, 8, 7]]]], np.uint8)  # (2, 1, 2, 3)
    assert_same(impl.mean_colours(images), np.array([[200.0, 0, 20], [0.5, 8, 7]]), "the mean colours")


@pytest.mark.hint("divide by the number of pixels of these images, H times W, whatever they are")
def test_images_that_are_not_square(impl):
    images = np.random.default_rng(0).integers(0, 256, (5, 4, 6, 3), dtype=np.uint8)
    expected = np.array([[image[:, :, c].mean() for c in range(3)] for image in images])
    assert_same(impl.mean_colours(images), expected, "the mean colours")


@pytest.mark.hint("a sum of bytes kept in a byte starts again at 0 after 255: let NumPy add up in float64")
def test_a_white_image_is_white(impl):
    assert_same(impl.mean_colours(np.full((1, 32, 32, 3), 255, np.uint8)), np.full((1, 3), 255.0), "white")


@pytest.mark.hint("make a new array; do not divide or subtract in the one you were given")
def test_the_shapes_stay_as_they_are(impl):
    images = make_shapes(train=20, test=10, seed=0).train.images
    before = images.copy()
    colours = impl.mean_colours(images)
    assert_untouched([before], [images])
    assert_same(colours, images.reshape(20, -1, 3).astype(float).sum(axis=1) / 1024, "the mean colours")
