"""Checks of lesson 0."""

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.data.shapes import make_shapes

AXES = "the axes are image, row, column, channel: two of them should go, and two should stay"
BYTES = "a sum of bytes kept in a byte starts again at 0 after 255: let NumPy add up in float64"


@pytest.mark.hint("take the mean over the pixels of each image, each channel by itself", shape=AXES)
def test_two_images_of_two_pixels(impl):
    images = np.array([[[[250, 0, 10], [150, 0, 30]]], [[[0, 8, 7], [1, 8, 7]]]], np.uint8)  # (2, 1, 2, 3)
    assert_same(impl.mean_colours(images), np.array([[200.0, 0, 20], [0.5, 8, 7]]), "the mean colours")


@pytest.mark.hint("divide by the number of pixels of these images, H times W, whatever they are", shape=AXES)
def test_images_that_are_not_square(impl):
    images = np.random.default_rng(0).integers(0, 256, (5, 4, 6, 3), dtype=np.uint8)
    expected = np.array([[image[:, :, c].mean() for c in range(3)] for image in images])
    assert_same(impl.mean_colours(images), expected, "the mean colours")


@pytest.mark.hint(BYTES, shape=AXES, dtype="the result is float64, not rounded to whole numbers")
def test_a_white_image_is_white(impl):
    assert_same(impl.mean_colours(np.full((1, 32, 32, 3), 255, np.uint8)), np.full((1, 3), 255.0), "white")


@pytest.mark.hint("16-bit integers overflow too, float16 and float32 round: add up in float64", shape=AXES)
def test_a_large_image(impl):
    images = np.full((1, 300, 500, 3), 251, np.uint8)
    images[0, :, ::3] = 254
    pixels = images.reshape(-1, 3).astype(np.int64)
    assert_same(impl.mean_colours(images), pixels.sum(axis=0)[None] / 150_000, "the mean colours", 1e-12)


@pytest.mark.hint("make a new array; do not divide or subtract in the one you were given", shape=AXES)
def test_the_shapes_stay_as_they_are(impl):
    images = make_shapes(train=20, test=10, seed=0).train.images
    before = images.copy()
    colours = impl.mean_colours(images)
    assert_untouched([before], [images])
    assert_same(colours, images.reshape(20, -1, 3).astype(float).sum(axis=1) / 1024, "the mean colours")


@pytest.mark.puzzle
@pytest.mark.hint(
    "what does a difference of two bytes do that would be negative?",
    shape="the result has the shape of sums: the first byte of a row is its own running sum",
    dtype="the result is an array of bytes",
)
def test_bytes_from_their_running_sums(impl):
    rows = np.random.default_rng(1).integers(0, 256, (3, 200), dtype=np.uint8)
    rows[0, 0] = 0
    sums = rows.cumsum(axis=1, dtype=np.uint8)
    before = sums.copy()
    by_hand = impl.bytes_from_sums(np.array([[200, 44, 51]], np.uint8))
    assert_same(by_hand, np.array([[200, 100, 7]], np.uint8), "the row of the example")
    assert_same(impl.bytes_from_sums(sums), rows, "the rows")
    assert_same(impl.bytes_from_sums(rows[:, :1]), rows[:, :1], "rows of one byte")
    assert_untouched([before], [sums])
