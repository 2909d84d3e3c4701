"""Checks of lesson 7."""

import importlib

import numpy as np
import pytest

from lessons.referee import Fault, assert_exposed, assert_operation, assert_same, assert_untouched

SUSPECTS = importlib.import_module("lessons.07_patches.suspects").SUSPECTS
CASES = {  # images and patch: all sizes differ within each case
    "4 images of 6 x 15 with 7 channels, P = 3": ((4, 6, 15, 7), 3),
    "1 image of 20 x 8 with 3 channels, P = 4": ((1, 20, 8, 3), 4),
    "P = 1": ((2, 3, 5, 4), 1),
    "a single patch": ((3, 2, 2, 5), 2),
}
shapes = pytest.mark.parametrize(("shape", "patch"), CASES.values(), ids=CASES)


def images(shape, dtype=np.float64):
    """Images in which every number is another one."""
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def by_equation_1(x, patch):
    B, H, W, C = x.shape
    y = np.empty((B, H * W // patch**2, patch * patch * C), x.dtype)
    for i, j, k in np.ndindex(H, W, C):
        (r, p), (c, q) = divmod(i, patch), divmod(j, patch)
        y[:, r * (W // patch) + c, (p * patch + q) * C + k] = x[:, i, j, k]
    return y


@pytest.mark.hint(
    "after the first reshape name all six axes; which of them number the patch, and which the pixel in it?",
    shape="the image need not be square, and C need not be 3: take every size from images.shape",
    crash="the image need not be square, and C need not be 3: take every size from images.shape",
)
@shapes
def test_every_number_goes_to_its_place(impl, shape, patch):
    y, _ = impl.patchify(images(shape), patch)
    assert_same(y, by_equation_1(images(shape), patch), "y")


@pytest.mark.hint(
    "the first patch is the upper left square: 0 and 1 from the first row, 4 and 5 from the second",
    shape="one row for each patch: 4 rows of 4 numbers",
)
def test_the_worked_example(impl):
    y, _ = impl.patchify(np.arange(16.0).reshape(1, 4, 4, 1), 2)
    expected = [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]
    assert_same(y, np.array(expected, dtype=float), "y")


@pytest.mark.hint(
    "split T into patch rows and columns first, then the last axis; the transpose of patchify undoes itself",
    crash="how many patch rows and columns there are follows from shape and patch, not from T alone",
)
@shapes
def test_unpatchify_undoes_it(impl, shape, patch):
    x = impl.unpatchify(by_equation_1(images(shape), patch), shape, patch)
    assert_same(x, images(shape), "the image put together again")


@pytest.mark.hint("every gradient is carried back to the pixel it came from; it is not cut up once more")
@shapes
def test_backward(impl, shape, patch):
    x = np.random.default_rng(1).normal(size=(shape[0], *shape[1:]))
    case = {"images": x}
    assert_operation(
        lambda images: impl.patchify(images, patch), impl.patchify_backward, {"": case}, may_share=True
    )


@pytest.mark.hint("dx is a copy of dy in another order: nothing is added, and nothing is scaled")
def test_the_backward_is_exact(impl):
    shape, patch = (2, 9, 12, 5), 3
    _, cache = impl.patchify(np.zeros(shape), patch)
    dx = impl.patchify_backward(by_equation_1(images(shape), patch), cache)
    assert_same(dx, images(shape), "dimages", 0)


@pytest.mark.hint(
    "test both remainders, H % P and W % P: a reshape with -1 may fit although a side does not",
    error="an assert is left out when Python runs with -O: raise ValueError, and say what does not fit",
)
@pytest.mark.parametrize(
    ("shape", "patch"),
    [((1, 5, 4, 1), 2), ((1, 4, 5, 1), 2), ((1, 8, 6, 1), 4), ((1, 6, 8, 1), 4), ((1, 2, 8, 1), 4)],
    ids=str,
)
def test_patches_that_do_not_fit_are_refused(impl, shape, patch):
    what = f"images of shape {shape} and patches of {patch} x {patch}"
    try:
        impl.patchify(images(shape), patch)
    except ValueError:
        return
    except AssertionError as error:  # the answer says assert: its message would be empty
        raise Fault(f"{what} raise AssertionError, expected a ValueError", "error") from error
    raise Fault(f"{what} were accepted, expected a ValueError")


@pytest.mark.hint(
    "the checks above look at the same numbers: mend those first",
    dtype="reshape and transpose keep the dtype; arrays made with np.zeros or np.empty want one",
    inplace="make new arrays: what you were given belongs to somebody else",
)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_the_dtype_and_the_inputs_stay_as_they_are(impl, dtype):
    shape, patch = (3, 4, 10, 1), 2
    x = images(shape, dtype)
    before = x.copy()
    y, cache = impl.patchify(x, patch)
    assert_same(y, by_equation_1(before, patch), "y")
    patches = by_equation_1(before, patch)
    assert_same(impl.unpatchify(patches, shape, patch), before, "the image put together again")
    assert_same(impl.patchify_backward(patches, cache), before, "dimages")
    assert_untouched([before, by_equation_1(before, patch)], [x, patches], ["images", "patches"])


@pytest.mark.hint(
    "the operation is linear, so only the shape of the images can matter: which shapes hide what?"
)
def test_guilty_patchify(impl):
    assert_exposed(impl.guilty_patchify(), SUSPECTS)


OVERLAPS = {
    "stride 2, P = 3": ((2, 7, 11, 4), 3, 2),
    "stride 1, P = 4": ((1, 6, 9, 3), 4, 1),
    "stride = P, a rest at two edges": ((2, 7, 11, 1), 3, 3),
    "stride 5, P = 2, with gaps": ((3, 8, 12, 1), 2, 5),
}


def overlapping(x, patch, stride):
    """Patches cut one by one."""
    B, H, W, _ = x.shape
    tops, lefts = range(0, H - patch + 1, stride), range(0, W - patch + 1, stride)
    cut = [x[:, i : i + patch, j : j + patch].reshape(B, -1) for i in tops for j in lefts]
    return np.stack(cut, axis=1)


@pytest.mark.puzzle
@pytest.mark.hint(
    "a pixel that was copied into several patches gets a gradient from each, a pixel in no patch gets 0"
)
@pytest.mark.parametrize(("shape", "patch", "stride"), OVERLAPS.values(), ids=OVERLAPS)
def test_overlapping_patches(impl, shape, patch, stride):
    rng = np.random.default_rng(2)
    size = int(np.prod(shape[1:]))
    each = overlapping(np.eye(size).reshape(size, *shape[1:]), patch, stride)  # one pixel switched on
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        dy = rng.normal(size=(shape[0], *each.shape[1:])).astype(dtype)
        before = dy.copy()
        expected = (dy.reshape(len(dy), -1) @ each.reshape(size, -1).T).reshape(shape).astype(dtype)
        assert_same(
            impl.overlapping_patches_backward(dy, shape, patch, stride), expected, "dimages", tolerance
        )
        assert_untouched([before], [dy], ["dy"])
