import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.ops import max_pool, max_pool_backward, relu, relu_backward


def naive(x, size, stride, padding):
    """The largest number of each window, and the pixel that it comes from (the first of equal ones)."""
    B, H, W, C = x.shape
    if padding == "SAME":
        h, w = -(-H // stride), -(-W // stride)
        above, left = (max((n - 1) * stride + size - m, 0) // 2 for n, m in ((h, H), (w, W)))
    else:
        h, w, above, left = (H - size) // stride + 1, (W - size) // stride + 1, 0, 0
    y, pixels = np.zeros((B, h, w, C)), np.zeros((B, h, w, C, 2), int)
    for b, r, c, ch in np.ndindex(y.shape):
        best = -np.inf
        for p, q in np.ndindex(size, size):
            i, j = r * stride + p - above, c * stride + q - left
            if 0 <= i < H and 0 <= j < W and x[b, i, j, ch] > best:
                best, pixels[b, r, c, ch] = x[b, i, j, ch], (i, j)
        y[b, r, c, ch] = best
    return y, pixels


@settings(max_examples=40)
@given(
    H=st.integers(3, 8),
    W=st.integers(3, 8),
    size=st.sampled_from([1, 2, 3]),
    stride=st.integers(1, 3),
    padding=st.sampled_from(["SAME", "VALID"]),
    equal=st.booleans(),
    seed=seeds(),
)
def test_max_pool_equals_loops_over_every_window_and_sends_the_gradient_to_the_largest(
    H, W, size, stride, padding, equal, seed
):
    rng = np.random.default_rng(seed)
    shape = 2, H, W, 3
    x = rng.integers(-2, 2, shape).astype("float64") if equal else rng.standard_normal(shape)
    expected, pixels = naive(x, size, stride, padding)
    y, cache = max_pool(x, size, stride, padding)
    np.testing.assert_array_equal(y, expected)

    dy, dx = rng.standard_normal(y.shape), np.zeros_like(x)
    for b, r, c, ch in np.ndindex(y.shape):
        dx[(b, *pixels[b, r, c, ch], ch)] += dy[b, r, c, ch]
    np.testing.assert_allclose(max_pool_backward(dy, cache), dx, atol=1e-14)


def test_padding_is_never_the_largest():
    y, _ = max_pool(np.full((1, 4, 4, 2), -7.0, "float32"))
    np.testing.assert_array_equal(y, np.full((1, 2, 2, 2), -7.0))
    assert y.dtype == "float32"


def test_the_defaults_halve_an_image_as_the_root_of_a_resnet_does():
    x = np.arange(25.0).reshape(1, 5, 5, 1)
    np.testing.assert_array_equal(max_pool(x)[0][0, :, :, 0], [[6, 8, 9], [16, 18, 19], [21, 23, 24]])
    np.testing.assert_array_equal(max_pool(x[:, :4, :4])[0][0, :, :, 0], [[12, 13], [17, 18]])


@given(values=st.lists(st.floats(-9, 9, width=32), min_size=1, max_size=20), dtype=dtypes())
def test_relu_keeps_the_positive_part_and_its_gradient(values, dtype):
    x = np.array(values, dtype)
    y, cache = relu(x)
    dx = relu_backward(np.full_like(x, 3), cache)
    assert y.tolist() == [max(value, 0) for value in x.tolist()]
    assert dx.tolist() == [3 if value > 0 else 0 for value in x.tolist()]
    assert y.dtype == dx.dtype == dtype


def test_relu_at_zero_has_no_gradient_and_does_not_hide_what_is_not_a_number():
    y, cache = relu(np.array([0.0, -0.0, np.nan]))
    assert y[:2].tolist() == [0, 0] and np.isnan(y[2])
    assert relu_backward(np.ones(3), cache).tolist() == [0, 0, 0]


def test_padding_around_a_smaller_image_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="no window of 3 inside it"):
        max_pool(np.zeros((1, 2, 2, 1)), padding="VALID")


def test_two_bytes_are_kept_of_every_number():
    _, (largest, _) = max_pool(np.zeros((2, 8, 8, 3)))
    assert largest.nbytes == 2 * (2 * 4 * 4 * 3)
