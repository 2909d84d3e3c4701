"""Checks of lesson 7."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched

SHAPE, PATCH = (2, 4, 6, 3), 2  # two rows and three columns of patches: no two sizes that could be mixed up


def images(shape=SHAPE):
    """Images in which every number is another one."""
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


def by_equation_1(x, patch):
    B, H, W, C = x.shape
    y = np.empty((B, H * W // patch**2, patch * patch * C), x.dtype)
    for i, j, k in np.ndindex(H, W, C):
        (r, p), (c, q) = divmod(i, patch), divmod(j, patch)
        y[:, r * (W // patch) + c, (p * patch + q) * C + k] = x[:, i, j, k]
    return y


@pytest.mark.hint(
    "the first patch is the upper left square: 0 and 1 from the first row, 4 and 5 from the second"
)
def test_the_worked_example(impl):
    y, _ = impl.patchify(np.arange(16.0).reshape(1, 4, 4, 1), 2)
    expected = [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]
    assert_same(y, np.array(expected, dtype=float), "y")


@pytest.mark.hint(
    "reshape to (B, H/P, P, W/P, P, C), name the axes, then say which must come first; channels stay last"
)
@pytest.mark.parametrize("patch", [1, 2])
def test_every_number_goes_to_its_place(impl, patch):
    y, _ = impl.patchify(images(), patch)
    assert_same(y, by_equation_1(images(), patch), "y")


@pytest.mark.hint(
    "patches have the shape (B, H/P, W/P, P, P, C), cut in this order; the transpose that exchanges the two "
    "middle axes is its own inverse"
)
def test_unpatchify_undoes_it(impl):
    x = impl.unpatchify(by_equation_1(images(), PATCH), SHAPE, PATCH)
    assert_same(x, images(), "the image put together again")


@pytest.mark.hint("the cache must hold what unpatchify needs; dy is carried back, it is not cut up once more")
def test_backward(impl):
    x = np.random.default_rng(1).normal(size=SHAPE)
    assert_gradients(lambda images: impl.patchify(images, PATCH), impl.patchify_backward, {"images": x})


@pytest.mark.hint(
    "H % patch is not 0 when the patches do not fit: raise ValueError instead of cutting pixels off"
)
@pytest.mark.parametrize("shape", [(1, 5, 4, 1), (1, 4, 5, 1)], ids=str)
def test_patches_that_do_not_fit_are_refused(impl, shape):
    refused = False
    try:
        impl.patchify(images(shape), 2)
    except ValueError:
        refused = True
    assert refused, f"images of shape {shape} were cut into patches of 2 x 2 without an error"


@pytest.mark.hint(
    "reshape and transpose keep the dtype; arrays made with np.zeros or np.empty want dtype=x.dtype"
)
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    x = images().astype(np.float32)
    before = x.copy()
    y, cache = impl.patchify(x, PATCH)
    dx = impl.patchify_backward(y, cache)
    again = impl.unpatchify(y, SHAPE, PATCH)
    for name, array in {"the patches": y, "dimages": dx, "the image put together again": again}.items():
        assert array.dtype == np.float32, f"{name} has dtype {array.dtype}, expected float32"
    assert_untouched([before], [x])
