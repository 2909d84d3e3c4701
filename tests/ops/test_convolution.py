import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.gradcheck import TOLERANCE, check_gradients
from tinyvit.ops import convolution, convolution_backward, linear


def naive(x, kernel, stride, padding):
    """Loops over every index of the formula, on an image padded by hand."""
    B, H, W, _ = x.shape
    k, outputs = len(kernel), kernel.shape[-1]
    if padding == "SAME":
        h, w = -(-H // stride), -(-W // stride)
        rows, columns = (max((n - 1) * stride + k - m, 0) for n, m in ((h, H), (w, W)))
        x = np.pad(x, [(0, 0), (rows // 2, -(-rows // 2)), (columns // 2, -(-columns // 2)), (0, 0)])
    else:
        h, w = (H - k) // stride + 1, (W - k) // stride + 1
    y = np.zeros((B, h, w, outputs))
    for b, r, c, o in np.ndindex(y.shape):
        for p, q, i in np.ndindex(kernel.shape[:3]):
            y[b, r, c, o] += kernel[p, q, i, o] * x[b, r * stride + p, c * stride + q, i]
    return y


def draw(rng, H, W, k, dtype="float64", I=3, O=2):
    x, kernel = rng.standard_normal((2, H, W, I)), rng.standard_normal((k, k, I, O))
    return x.astype(dtype), kernel.astype(dtype)


@settings(max_examples=40)
@given(
    H=st.integers(1, 6),
    W=st.integers(1, 6),
    k=st.sampled_from([1, 2, 3, 5, 7]),
    stride=st.integers(1, 3),
    padding=st.sampled_from(["SAME", "VALID"]),
    seed=seeds(),
)
def test_forward_equals_loops_over_every_index(H, W, k, stride, padding, seed):
    H, W = (H + k - 1, W + k - 1) if padding == "VALID" else (H, W)
    x, kernel = draw(np.random.default_rng(seed), H, W, k)
    y, _ = convolution(x, kernel, stride, padding)
    np.testing.assert_allclose(y, naive(x, kernel, stride, padding), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("size", [(4, 6), (5, 7), (1, 2)], ids=str)
def test_gradients_match_finite_differences(size, k, stride):
    rng = np.random.default_rng(k)
    errors = check_gradients(
        lambda x, kernel: convolution(x, kernel, stride), convolution_backward, draw(rng, *size, k), rng
    )
    assert max(errors) < TOLERANCE


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("size", [(8, 9), (32, 31)], ids=str)
def test_float32_is_float64_rounded(size, k, stride):
    x, kernel = draw(np.random.default_rng(1), *size, k, "float32", I=16, O=8)
    y, cache = convolution(x, kernel, stride)
    dy = np.random.default_rng(2).standard_normal(y.shape).astype("float32")
    found = [y, *convolution_backward(dy, cache)]
    y, cache = convolution(x.astype("float64"), kernel.astype("float64"), stride)
    for single, double in zip(found, [y, *convolution_backward(dy.astype("float64"), cache)], strict=True):
        assert single.dtype == "float32"
        assert np.abs(single - double).max() < 1e-5 * np.abs(double).max()


@settings(max_examples=20)
@given(H=st.integers(1, 5), W=st.integers(1, 5), dtype=dtypes(), seed=seeds())
def test_a_kernel_of_one_pixel_is_a_linear_layer_on_every_pixel(H, W, dtype, seed):
    x, kernel = draw(np.random.default_rng(seed), H, W, 1, dtype)
    expected, _ = linear(x, kernel[0, 0], np.zeros(2, dtype))
    np.testing.assert_array_equal(convolution(x, kernel)[0], expected)


def test_a_kernel_with_a_one_in_its_centre_leaves_the_image_as_it_is():
    x = np.random.default_rng(0).standard_normal((2, 5, 4, 3))
    kernel = np.zeros((3, 3, 3, 3))
    kernel[1, 1] = np.eye(3)
    np.testing.assert_array_equal(convolution(x, kernel)[0], x)


def test_a_shifted_image_gives_a_shifted_result():
    rng = np.random.default_rng(0)
    x, kernel = np.zeros((1, 12, 12, 2)), rng.standard_normal((3, 3, 2, 4))
    x[:, 3:8, 3:8] = rng.standard_normal((1, 5, 5, 2))
    shifted = np.roll(x, (1, 2), axis=(1, 2))
    y, _ = convolution(x, kernel)
    np.testing.assert_allclose(convolution(shifted, kernel)[0], np.roll(y, (1, 2), axis=(1, 2)), atol=1e-13)


def test_the_cache_does_not_keep_the_windows():
    x = np.zeros((2, 32, 32, 8), "float32")
    _, (kept, *_) = convolution(x, np.zeros((7, 7, 8, 4), "float32"))
    assert kept is x


@pytest.mark.parametrize("k, stride", [(3, 2), (1, 2)])
def test_a_pixel_that_no_window_covers_has_no_gradient(k, stride):
    x, kernel = draw(np.random.default_rng(0), 6, 6, k)
    y, cache = convolution(x, kernel, stride, "VALID")
    dx, _ = convolution_backward(np.ones_like(y), cache)
    covered = set(range((6 - k) // stride * stride + k)) if k > 1 else {0, 2, 4}
    for i in range(6):
        assert (np.abs(dx[:, i]).max() > 0) == (i in covered)
