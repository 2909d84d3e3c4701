import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import layouts, seeds
from tinyvit.ops import patchify, patchify_backward, unpatchify

small = st.integers(1, 4)


@settings(max_examples=40)
@given(B=small, rows=small, columns=small, P=small, C=small, seed=seeds(), layout=layouts())
def test_every_pixel_goes_where_equation_1_says(B, rows, columns, P, C, seed, layout):
    images = np.random.default_rng(seed).standard_normal((B, rows * P, columns * P, C))
    y, _ = patchify(layout(images), P)
    assert y.shape == (B, rows * columns, P * P * C)
    for b, r, c, p, q, k in np.ndindex(B, rows, columns, P, P, C):
        assert y[b, r * columns + c, (p * P + q) * C + k] == images[b, r * P + p, c * P + q, k]


@settings(max_examples=40)
@given(B=small, rows=small, columns=small, P=small, C=small, seed=seeds(), layout=layouts())
def test_putting_the_patches_together_gives_the_image_again(B, rows, columns, P, C, seed, layout):
    images = np.random.default_rng(seed).integers(0, 256, (B, rows * P, columns * P, C), dtype=np.uint8)
    patches, cache = patchify(images, P)
    np.testing.assert_array_equal(unpatchify(layout(patches), images.shape, P), images)
    np.testing.assert_array_equal(patchify_backward(layout(patches), cache), images)


@pytest.mark.parametrize("height, width", [(6, 8), (8, 6), (2, 8)])
def test_an_image_that_cannot_be_cut_is_refused(height, width):
    with pytest.raises(ValueError, match=f"{height} x {width} pixels cannot be cut into patches of 4 x 4"):
        patchify(np.zeros((1, height, width, 3)), 4)
