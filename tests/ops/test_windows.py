import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.ops import patchify, windows, windows_backward
from tinyvit.ops.windows import placement


@settings(max_examples=60)
@given(
    H=st.integers(1, 7),
    W=st.integers(1, 7),
    size=st.sampled_from([1, 2, 3, 7]),
    stride=st.integers(1, 3),
    seed=seeds(),
)
def test_same_padding_puts_every_pixel_where_the_formula_says(H, W, size, stride, seed):
    x = np.random.default_rng(seed).standard_normal((2, H, W, 3))
    y, _ = windows(x, size, stride, fill=-5.0)
    h, w = -(-H // stride), -(-W // stride)
    above = max((h - 1) * stride + size - H, 0) // 2
    left = max((w - 1) * stride + size - W, 0) // 2
    assert y.shape == (2, h, w, size, size, 3)
    for r, c, p, q in np.ndindex(h, w, size, size):
        i, j = r * stride + p - above, c * stride + q - left
        inside = 0 <= i < H and 0 <= j < W
        np.testing.assert_array_equal(y[:, r, c, p, q], x[:, i, j] if inside else -5.0)


# As documented by TensorFlow (tf.nn, "notes on padding"): length, size, stride, and (count, before, after).
@pytest.mark.parametrize(
    "length, size, stride, expected",
    [
        (224, 7, 2, (112, 2, 3)),  # the root of a ResNet
        (112, 3, 2, (56, 0, 1)),  # its max-pool
        (56, 3, 1, (56, 1, 1)),
        (56, 3, 2, (28, 0, 1)),
        (7, 3, 2, (4, 1, 1)),  # an odd length is padded alike on both sides
        (56, 1, 2, (28, 0, 0)),
        (2, 7, 1, (2, 3, 3)),
        (5, 2, 3, (2, 0, 0)),
    ],
)
def test_same_padding_is_that_of_tensorflow(length, size, stride, expected):
    assert placement(length, size, stride, "SAME") == expected


@pytest.mark.parametrize("length, size, stride, count", [(7, 7, 2, 1), (8, 3, 2, 3), (9, 3, 2, 4)])
def test_valid_padding_leaves_out_what_does_not_fill_a_window(length, size, stride, count):
    assert placement(length, size, stride, "VALID") == (count, 0, 0)


def test_windows_as_far_apart_as_they_are_wide_are_patches():
    x = np.random.default_rng(0).standard_normal((2, 6, 9, 3))
    y, _ = windows(x, 3, 3, "VALID")
    np.testing.assert_array_equal(y.reshape(2, 6, 27), patchify(x, 3)[0])


def test_the_gradient_counts_how_many_windows_cover_a_pixel():
    y, cache = windows(np.ones((1, 3, 4, 1)), 3)
    dx = windows_backward(np.ones_like(y), cache)
    np.testing.assert_array_equal(dx[0, :, :, 0], np.outer([2, 3, 2], [2, 3, 3, 2]))


@settings(max_examples=40)
@given(
    H=st.integers(3, 7),
    W=st.integers(3, 7),
    size=st.sampled_from([1, 2, 3]),
    stride=st.integers(1, 4),
    padding=st.sampled_from(["SAME", "VALID"]),
    seed=seeds(),
)
def test_the_backward_pass_is_the_transpose_of_the_forward_pass(H, W, size, stride, padding, seed):
    """<dy, A x> = <A^T dy, x>, to the last digits: more than finite differences can show."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, H, W, 2))
    y, cache = windows(x, size, stride, padding)
    dy = rng.standard_normal(y.shape)
    assert abs((dy * y).sum() - (windows_backward(dy, cache) * x).sum()) < 1e-11


def test_windows_of_one_pixel_are_not_copied():
    x = np.zeros((2, 4, 5, 3))
    assert np.shares_memory(windows(x, 1, 1)[0], x)
    assert np.shares_memory(windows(x, 1, 2)[0], x)


def test_a_window_that_must_lie_inside_a_smaller_image_is_refused():
    with pytest.raises(ValueError, match="an image of 2 pixels has no window of 3 inside it"):
        windows(np.zeros((1, 2, 5, 1)), 3, 1, "VALID")


def test_another_kind_of_padding_is_refused():
    with pytest.raises(ValueError, match="padding is 'same', expected one of SAME, VALID"):
        windows(np.zeros((1, 2, 5, 1)), 3, 1, "same")
