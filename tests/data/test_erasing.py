"""Random erasing: rectangles of the paper's sizes, and noise that depends on its image and pixel alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.data.mixing import draw_erasing, erase

sizes = st.tuples(st.integers(1, 12), st.integers(1, 12))


def changed(images, before):
    """True for the pixels that have another colour than before: (B, H, W)."""
    return (images != before).any(axis=-1)


@given(size=sizes, count=st.integers(1, 6), probability=st.sampled_from([0.0, 0.5, 1.0]), seed=seeds())
def test_noise_is_in_the_rectangles_and_nowhere_else(size, count, probability, seed):
    rng = np.random.default_rng(seed)
    erasing = draw_erasing(rng, count, probability)
    images = np.full((count, *size, 3), 5.0)
    erase(images, erasing)
    expected = np.zeros((count, *size), bool)
    for b, (top, bottom, left, right) in enumerate(zip(*erasing.rectangles(*size), strict=True)):
        assert 0 <= top <= bottom <= size[0] and 0 <= left <= right <= size[1]
        expected[b, top:bottom, left:right] = True
    np.testing.assert_array_equal(changed(images, 5.0), expected)
    assert expected.any(axis=(1, 2))[erasing.area == 0].sum() == 0


def test_areas_and_aspects_are_those_of_the_paper():
    erasing = draw_erasing(np.random.default_rng(0), 20_000, 1.0)
    where = erasing.rectangles(1000, 1000)
    share = where.area / 1e6
    assert 0.019 < share.min() < 0.022 and 0.33 < share.max() < 0.335
    assert share.mean() == pytest.approx((0.02 + 1 / 3) / 2, abs=0.005)
    aspect = (where.bottom - where.top) / (where.right - where.left)
    assert 0.29 < aspect.min() < 0.31 and 3.2 < aspect.max() < 3.4
    assert np.median(aspect) == pytest.approx(1, abs=0.05)  # as often upright as lying
    assert where.top.min() == where.left.min() == 0 and where.bottom.max() == where.right.max() == 1000


def test_a_rectangle_may_lie_at_either_edge_of_a_small_image():
    where = draw_erasing(np.random.default_rng(0), 2000, 1.0).rectangles(8, 8)
    for first, last in ((where.top, where.bottom), (where.left, where.right)):
        assert set(first[last - first == 7].tolist()) == {0, 1}
        assert first.min() == 0 and last.max() == 8


def test_as_many_images_are_erased_as_was_asked_for():
    """The share of 20,000 tosses strays by 0.003, one time in three."""
    for probability in (0.0, 0.25, 1.0):
        erased = draw_erasing(np.random.default_rng(0), 20_000, probability).area > 0
        assert abs(erased.mean() - probability) < 0.016


def test_noise_has_all_colours_evenly_and_differs_from_image_to_image():
    """The mean of 100,000 numbers strays by 0.002, one time in three."""
    images = np.full((200, 32, 32, 3), 5.0)
    erasing = draw_erasing(np.random.default_rng(0), 200, 1.0)
    erase(images, erasing)
    noise = images[images != 5]
    assert len(noise) > 100_000 and -1 <= noise.min() < -0.999 and 0.999 < noise.max() < 1
    assert abs(noise.mean()) < 0.01 and noise.std() == pytest.approx(3**-0.5, rel=0.01)
    assert len(np.unique(noise)) > 0.99 * len(noise)


def test_the_noise_of_a_pixel_does_not_depend_on_the_other_images():
    erasing = draw_erasing(np.random.default_rng(0), 5, 1.0)
    together, alone = np.zeros((5, 9, 9, 3)), np.zeros((1, 9, 9, 3))
    erase(together, erasing)
    erase(alone, type(erasing)(*(each[3:4] for each in erasing)))
    np.testing.assert_array_equal(alone[0], together[3])
