"""Checks of lesson 15."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched
from tinyvit.ops import Noise

RATE = 0.4


def pictures(seed=0, shape=(3, 5, 7, 3)):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def one(impl, image, down=0, right=0, flip=False):
    """One image through one window."""
    shift = np.array([down]), np.array([right])
    batch = impl.crop_and_flip(image[None], np.array([0]), *shift, np.array([flip]))
    assert np.shape(batch) == (1, *image.shape), f"the batch has shape {np.shape(batch)}"
    return batch[0]


@pytest.mark.hint("images are chosen by indices: 2, then 0, then 2 again")
def test_no_shift_and_no_flip_is_the_image_itself(impl):
    images, nothing = pictures(), np.zeros(3, dtype=int)
    batch = impl.crop_and_flip(images, np.array([2, 0, 2]), nothing, nothing, nothing > 0)
    assert_same(batch, images[[2, 0, 2]], "the batch")


@pytest.mark.hint("reflect without repeating the edge: row -1 is row 1, row -2 is row 2; row H is row H - 2")
def test_a_row_by_hand(impl):
    image = np.zeros((5, 1, 3), dtype=np.uint8)
    image[:, 0] = np.array([10, 20, 30, 40, 50])[:, None]
    for down, expected in ((2, [30, 40, 50, 40, 30]), (-2, [30, 20, 10, 20, 30]), (-4, [50, 40, 30, 20, 10])):
        window = one(impl, image, down=down)
        assert_same(window[:, 0, 0], np.array(expected, np.uint8), f"a column moved down by {down}")


@pytest.mark.hint(
    "down moves rows (axis 1), right columns (axis 2); each image has its own; source = place + shift"
)
def test_every_image_has_its_own_window(impl):
    images, rng = pictures(1), np.random.default_rng(1)
    indices, down, right = rng.integers(0, 3, 9), rng.integers(-3, 4, 9), rng.integers(-3, 4, 9)
    batch = impl.crop_and_flip(images, indices, down, right, np.zeros(9, dtype=bool))
    padded = np.pad(images, ((0, 0), (3, 3), (3, 3), (0, 0)), mode="reflect")
    expected = [
        padded[i, 3 + top :, 3 + left :][:5, :7] for i, top, left in zip(indices, down, right, strict=True)
    ]
    assert_same(batch, np.stack(expected), "the batch")


@pytest.mark.hint("first the window, then the mirror: output column j shows column W - 1 - j of the window")
def test_a_flip_mirrors_what_the_window_shows(impl):
    image = pictures(2)[0]
    assert_same(one(impl, image, flip=True), image[:, ::-1], "the mirrored image")
    for right in (2, -3):
        window = one(impl, image, down=1, right=right)
        mirrored = one(impl, image, 1, right, True)
        assert_same(mirrored, window[:, ::-1], f"the window moved right by {right}, mirrored")


@pytest.mark.hint("without noise nothing is dropped and nothing enlarged; the same at rate 0")
def test_in_use_nothing_happens(impl):
    x = np.random.default_rng(3).normal(size=(4, 2, 3))
    for rate, noise in ((RATE, None), (0, Noise(1, 2))):
        y, cache = impl.drop_path(x, rate, noise)
        assert_same(y, x, f"y at rate {rate} {'without noise' if noise is None else ''}")
        assert_same(impl.drop_path_backward(x, cache), x, "dx")


@pytest.mark.hint("noise.uniform((B, 1, 1), np) gives one number an image; keep where it is >= rate")
def test_an_image_is_kept_whole_or_left_out_whole(impl):
    x = np.random.default_rng(4).normal(size=(40, 2, 3))
    y, _ = impl.drop_path(x, RATE, Noise(5, 6))
    keep = Noise(5, 6).uniform((40, 1, 1), np)[:, 0, 0] >= RATE
    assert_same(y != 0, np.broadcast_to(keep[:, None, None], x.shape), "where y is not zero")


@pytest.mark.hint("what is kept is divided by 1 - rate: the mean over many draws is x again")
def test_the_mean_stays(impl):
    x = np.ones((20_000, 1, 1))
    y, _ = impl.drop_path(x, RATE, Noise(7, 8))
    assert_same(float(y.mean()), 1.0, "the mean of y over 20,000 images of ones", 0.02)
    assert_same(float(y.max()), 1 / (1 - RATE), "a kept one")


@pytest.mark.hint("dx is dy times the mask of the forward pass: put the mask in the cache, do not draw again")
def test_the_gradient(impl):
    x = np.random.default_rng(9).normal(size=(8, 2, 3))
    forward = lambda x: impl.drop_path(x, RATE, Noise(9, 1))
    assert_gradients(forward, impl.drop_path_backward, {"x": x})


@pytest.mark.hint("make the mask in x's dtype; gather into a new array, and never write into images or x")
def test_dtypes_stay_and_inputs_stay_whole(impl):
    images, x = pictures(10), np.ones((6, 2, 2), dtype=np.float32)
    indices, shift, flip = np.array([1, 0]), np.array([2, -1]), np.array([True, False])
    before = [array.copy() for array in (images, x, indices, shift, flip)]
    batch = impl.crop_and_flip(images, indices, shift, shift, flip)
    y, cache = impl.drop_path(x, RATE, Noise(1, 1))
    dx = impl.drop_path_backward(y, cache)
    assert batch.dtype == np.uint8, f"the batch has dtype {batch.dtype}, expected uint8"
    assert y.dtype == dx.dtype == np.float32, (
        f"y and dx have dtypes {y.dtype} and {dx.dtype}, expected float32"
    )
    assert_untouched(before, [images, x, indices, shift, flip])
