"""Checks of lesson 19."""

import importlib
import math

import numpy as np
import pytest

from lessons.referee import assert_exposed, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import named, outcome
from tinyvit.ops import convolution as right_convolution
from tinyvit.ops import convolution_backward, windows_backward
from tinyvit.ops import windows as right_windows

SUSPECTS = importlib.import_module("lessons.19_convolution.suspects").SUSPECTS
CASES = {  # shape of x; size, stride, padding: B, H, W and C differ from each other
    "3 x 3, SAME": ((2, 5, 4, 3), (3, 1, "SAME")),
    "4 x 4, SAME": ((1, 5, 6, 2), (4, 1, "SAME")),
    "3 x 3 with stride 2, even height, odd width, SAME": ((2, 6, 5, 3), (3, 2, "SAME")),
    "5 x 5 with stride 3, SAME": ((1, 7, 8, 2), (5, 3, "SAME")),
    "2 x 2 with stride 4, SAME": ((2, 5, 8, 3), (2, 4, "SAME")),
    "3 x 3 with stride 2, VALID, a row left over": ((2, 6, 5, 3), (3, 2, "VALID")),
    "2 x 2 with stride 2, VALID, a row left over": ((1, 5, 4, 2), (2, 2, "VALID")),
    "3 x 3 with stride 3, SAME": ((1, 5, 7, 2), (3, 3, "SAME")),
    "1 x 1": ((3, 2, 4, 5), (1, 1, "SAME")),
    "1 x 1 with stride 2": ((2, 5, 4, 3), (1, 2, "SAME")),
}
REFUSED = [((1, 4, 5, 2), 3, "same"), ((1, 4, 5, 2), 5, "VALID"), ((1, 6, 3, 2), 4, "VALID")]
cases = pytest.mark.parametrize(("shape", "how"), CASES.values(), ids=CASES)


def cut_slowly(x, size, stride, padding, fill):
    """The windows of x, one number at a time."""
    B, H, W, C = x.shape
    (h, above), (w, left) = placed(H, size, stride, padding), placed(W, size, stride, padding)
    y = np.full((B, h, w, size, size, C), fill, x.dtype)
    for r, c, p, q in np.ndindex(h, w, size, size):
        i, j = r * stride + p - above, c * stride + q - left
        if 0 <= i < H and 0 <= j < W:
            y[:, r, c, p, q] = x[:, i, j]
    return y


def placed(length, size, stride, padding):
    """Number of windows along an axis, and the distance that the first one reaches out of the image."""
    if padding == "VALID":
        return len(range(0, length - size + 1, stride)), 0
    count = math.ceil(length / stride)
    return count, max((count - 1) * stride + size - length, 0) // 2


@pytest.mark.hint(
    "window (r, c) begins at pixel (r s - a, c s - b), and an odd row of padding goes below the image: print "
    "the windows of np.arange(16) as a 4 x 4 image",
    shape="SAME gives ceil(H / s) rows of windows, VALID those that fit: floor((H - k) / s) + 1",
    dtype="np.zeros and np.full make float64 unless you say dtype=x.dtype",
)
@cases
def test_windows(impl, shape, how):
    x = np.random.default_rng(0).normal(size=shape)
    before = x.copy()
    assert_same(outcome(impl.windows(x, *how))[0], cut_slowly(x, *how, 0.0), "y")
    filled = outcome(impl.windows(x, *how, fill=-2.5))[0]
    assert_same(filled, cut_slowly(x, *how, -2.5), "y with fill=-2.5")
    single = x.astype(np.float32)
    assert_same(outcome(impl.windows(single, *how))[0], cut_slowly(single, *how, 0.0), "y in float32")
    assert_untouched([before], [x], ["x"])


@pytest.mark.hint("windows(x, size) has stride 1, SAME padding and zeros outside the image")
def test_windows_without_further_arguments(impl):
    x = np.random.default_rng(1).normal(size=(2, 4, 5, 3))
    assert_same(outcome(impl.windows(x, 3))[0], cut_slowly(x, 3, 1, "SAME", 0.0), "y")


@pytest.mark.hint("raise ValueError: what was wrong, and what was expected")
def test_windows_refuses_what_it_cannot_do(impl):
    refused = []
    for shape, size, padding in REFUSED:
        try:
            impl.windows(np.ones(shape), size, 1, padding)
        except ValueError:
            refused.append((shape, size, padding))
    for shape, size, padding in REFUSED:
        what = f"windows of {size} x {size} with padding {padding!r} were cut from images of shape {shape}"
        assert (shape, size, padding) in refused, f"{what} without an error"


@pytest.mark.hint(
    "every copy of a pixel sends a gradient back: which copies are missing, or counted too often?",
    shape="dx has the shape of x, with a zero where no window has read a pixel",
    dtype="np.zeros is float64 unless you say dtype=dy.dtype",
)
@cases
def test_windows_backward(impl, shape, how):
    x = np.random.default_rng(2).normal(size=shape)
    assert_operation(lambda x: impl.windows(x, *how), impl.windows_backward, {"": {"x": x}}, may_share=True)


@pytest.mark.hint("a gradient of ones counts the windows that cover each pixel: 4 at a corner, 9 inside")
def test_how_often_each_pixel_is_used(impl):
    _, cache = outcome(impl.windows(np.zeros((1, 4, 5, 1)), 3))
    dx = impl.windows_backward(np.ones((1, 4, 5, 3, 3, 1)), cache)
    assert_same(dx, np.outer([2.0, 3, 3, 2], [2.0, 3, 3, 3, 2])[None, :, :, None], "dx")


@pytest.mark.hint(
    "one row for each window, k k I numbers long; the kernel as a matrix with as many rows",
    shape="y has one pixel for each window, and O channels",
    dtype="a float32 array times a float32 array stays float32: where does a float64 come in?",
)
@cases
def test_convolution(impl, shape, how):
    x, kernel = arrays(shape, how, seed=3)
    X = cut_slowly(x, *how, 0.0)
    expected = np.zeros((*X.shape[:3], kernel.shape[-1]))
    for p, q, i in np.ndindex(*kernel.shape[:3]):
        expected += X[:, :, :, p, q, i, None] * kernel[p, q, i]
    assert_same(outcome(impl.convolution(x, kernel, *how[1:]))[0], expected, "y")
    single = outcome(impl.convolution(x.astype(np.float32), kernel.astype(np.float32), *how[1:]))
    assert_same(single[0], expected.astype(np.float32), "y in float32", 1e-5)


@pytest.mark.hint("convolution(x, kernel) has stride 1 and SAME padding: the result is as large as the image")
def test_convolution_without_further_arguments(impl):
    x, kernel = arrays((2, 4, 5, 3), (3, 1, "SAME"), seed=4)
    assert_same(outcome(impl.convolution(x, kernel))[0], right_convolution(x, kernel)[0], "y")


@pytest.mark.hint(
    "a linear layer's backward gives the gradients of the windows and of the kernel; then add up the windows",
    dx="the gradient of the windows is dy times the transpose of the kernel's matrix; then windows_backward",
    dkernel="every window of every image has used the kernel: a sum over all of them, and no mean",
    shape="dx has the shape of x, dkernel (k, k, I, O)",
    cache="keep what the forward was given, and write into new arrays only",
)
@cases
def test_convolution_gradients(impl, shape, how):
    x, kernel = arrays(shape, how, seed=5)
    assert_operation(
        lambda x, kernel: impl.convolution(x, kernel, *how[1:]),
        impl.convolution_backward,
        {"": {"x": x, "kernel": kernel}},
    )


@pytest.mark.hint(
    "with as many channels coming in as going out, a kernel and its transpose have the same shape",
    dx="the matrix of the kernel is (k k I, O): transpose this one, not the kernel",
)
def test_convolution_gradients_where_sizes_coincide(impl):
    found = {}
    for size, channels in ((2, 3), (3, 3), (1, 2)):
        rng = np.random.default_rng(size)
        kernel = rng.normal(size=(size, size, channels, channels))
        found[f"k = {size}, I = O = {channels}"] = {
            "x": rng.normal(size=(1, 4, 5, channels)),
            "kernel": kernel,
        }
    assert_operation(impl.convolution, impl.convolution_backward, found)


@pytest.mark.hint("a second forward may come before the first one's backward: keep everything in the cache")
def test_two_forwards_before_the_backwards(impl):
    first, second = (arrays((2, 6, 5, 3), (3, 2, "SAME"), seed) for seed in (6, 7))
    _, cache = outcome(impl.convolution(*first, 2))
    impl.convolution(*second, 2)
    dy = np.random.default_rng(8).normal(size=(2, 3, 3, 4))
    expected = convolution_backward(dy, right_convolution(*first, 2)[1])
    got = named(impl.convolution_backward(dy, cache), dict(zip(("x", "kernel"), first, strict=True)))
    for (name, gradient), right in zip(got.items(), expected, strict=True):
        assert_same(gradient, right, f"d{name} of the first of two calls")


def arrays(shape, how, seed):
    """Images, and a kernel of another number of channels."""
    rng = np.random.default_rng(seed)
    k, inputs = how[0], shape[-1]
    return rng.normal(size=shape), rng.normal(size=(k, k, inputs, 7 - inputs))


@pytest.mark.hint(
    "all three give a window's gradient to its largest pixel: of which numbers do they take the largest?",
    inputs="which pixels are in a window at the border, and what stands where there are none? Avoid equal "
    "numbers in a window: a maximum has no derivative there",
)
def test_guilty_max_pool(impl):
    assert_exposed(impl.guilty_max_pool(), SUSPECTS)


@pytest.mark.puzzle
@pytest.mark.hint(
    "list the windows that have read pixel j, and where in each of them it lay: p falls as the window rises",
    shape="VALID takes k - 1 rows away, and dx is as high as dy: pad dy first",
)
@pytest.mark.parametrize("size", [3, 5, 1, 2, 4])
def test_gradient_by_convolution(impl, size):
    for outputs in (2, 3):
        rng = np.random.default_rng(size)
        kernel, dy = rng.normal(size=(size, size, 3, outputs)), rng.normal(size=(2, 6, 5, outputs))
        dX = dy @ kernel.reshape(-1, outputs).T
        cut = right_windows(np.zeros((2, 6, 5, 3)), size)[1]
        expected = windows_backward(dX.reshape(2, 6, 5, size, size, 3), cut)
        returned = []

        def convolve(images, kernel, returned=returned):
            fits = np.ndim(images) == 4 and np.ndim(kernel) == 4 and kernel.shape[2] == images.shape[3]
            shapes = f"images of shape {np.shape(images)} and a kernel of shape {np.shape(kernel)}"
            assert fits, f"convolve was given {shapes}, expected (B, H, W, I) and (k, k, I, O)"
            returned.append(right_convolution(images, kernel, 1, "VALID")[0])
            return returned[-1]

        before = dy.copy(), kernel.copy()
        got = impl.gradient_by_convolution(dy, kernel, convolve)
        assert_untouched(before, (dy, kernel), ("dy", "kernel"))
        assert len(returned) == 1, f"convolve was called {len(returned)} times, expected once"
        assert_same(got, expected, f"dx with a kernel of {size} x {size}")
        assert got is returned[0], "return what convolve returns, with nothing done to it"
