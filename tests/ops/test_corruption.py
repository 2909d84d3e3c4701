"""Corrupted patches: how many, which, how; and what becomes of their embeddings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.backend import to_numpy
from tinyvit.ops import Corruption, Noise, corrupt, draw_corruption, row_pool, squared_error
from tinyvit.ops.corruption import MASKED, corrupted_patches


@given(seed=seeds(), patches=st.integers(2, 70), share=st.sampled_from([0.3, 0.5, 0.99]))
def test_exactly_the_share_of_each_image_is_chosen_and_the_rest_shows_itself(seed, patches, share):
    chosen, source = draw_corruption(Noise(seed, 3), 5, patches, share, np)
    assert chosen.shape == (5, corrupted_patches(share, patches))
    for rows, shown in zip(chosen, source, strict=True):
        assert len(set(rows)) == len(rows)
        others = np.setdiff1d(np.arange(patches), rows)
        np.testing.assert_array_equal(shown[others], others)
        assert shown.min() >= MASKED and shown.max() < patches


@pytest.mark.parametrize(
    "share, patches, count", [(0.29, 100, 29), (0.57, 100, 57), (1 / 49, 49, 1), (0.5, 7, 3)]
)
def test_a_share_is_rounded_down_from_what_it_means_not_from_how_it_is_stored(share, patches, count):
    assert corrupted_patches(share, patches) == count


def test_of_the_chosen_patches_80_percent_are_masked_10_are_swapped_and_10_stay():
    chosen, source = draw_corruption(Noise(7, 1), 2000, 64, 0.5, np)
    shown = np.take_along_axis(source, chosen, axis=1)
    masked, same = shown == MASKED, shown == chosen
    swapped = ~masked & ~same
    for found, expected in ((masked, 0.8), (swapped, 0.1), (same, 0.1)):
        assert found.mean() == pytest.approx(expected, abs=0.005)  # four standard deviations
    distances = np.bincount((shown - chosen)[swapped] % 64, minlength=64)
    assert distances[0] == 0 and distances[1:].min() > 50  # about 100 each
    assert np.bincount(shown[swapped], minlength=64).min() > 50  # every patch is shown in place of others
    np.testing.assert_allclose(np.bincount(chosen.ravel(), minlength=64) / 2000, 0.5, atol=0.05)


def test_the_choice_depends_on_seed_step_and_image_and_not_on_the_batch():
    whole = draw_corruption(Noise(1, 2), 7, 16, 0.5, np)
    part = draw_corruption(Noise(1, 2, first=3), 4, 16, 0.5, np)
    for a, b in zip(whole, part, strict=True):
        np.testing.assert_array_equal(a[3:], b)
    for other in (Noise(2, 2), Noise(1, 3)):
        assert (draw_corruption(other, 7, 16, 0.5, np).source != whole.source).any()
    assert len({tuple(row) for row in whole.source}) == 7


def test_the_choice_is_the_same_on_a_gpu(gpu):
    here = draw_corruption(Noise(1, 2), 3, 16, 0.5, np)
    there = draw_corruption(Noise(1, 2), 3, 16, 0.5, gpu.xp)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(to_numpy(b), a)


@given(seed=seeds())
def test_each_patch_shows_its_source_or_the_mask(seed):
    rng = np.random.default_rng(seed)
    x, mask, source = rng.normal(size=(3, 5, 4)), rng.normal(size=4), rng.integers(-1, 5, (3, 5))
    y, _ = corrupt(x, mask, source)
    for b, t in np.ndindex(3, 5):
        np.testing.assert_array_equal(y[b, t], mask if source[b, t] == MASKED else x[b, source[b, t]])


def test_an_image_of_which_nothing_is_corrupted_stays_as_it_is():
    corruption = draw_corruption(Noise(0, 0), 2, 9, 0.0, np)
    assert isinstance(corruption, Corruption) and corruption.chosen.shape == (2, 0)
    x = np.random.default_rng(0).normal(size=(2, 9, 4))
    np.testing.assert_array_equal(corrupt(x, np.ones(4), corruption.source)[0], x)


def test_row_pool_takes_the_rows_of_each_image_in_their_order():
    x = np.random.default_rng(1).normal(size=(2, 5, 3))
    y, _ = row_pool(x, np.array([[4, 0], [1, 2]]))
    np.testing.assert_array_equal(y, [[x[0, 4], x[0, 0]], [x[1, 1], x[1, 2]]])


def test_the_squared_error_is_the_mean_over_all_numbers():
    y, t = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 0.0], [0.0, 4.0]])
    assert squared_error(y, t)[0] == (0 + 4 + 9 + 1) / 4
    with pytest.raises(ValueError, match=r"targets have shape \(2,\), expected \(2, 2\)"):
        squared_error(y, t[0])


def test_the_patches_with_the_smallest_random_numbers_are_chosen():
    numbers = Noise(5, 6).uniform((500, 40), np)
    chosen, _ = draw_corruption(Noise(5, 6), 500, 40, 0.3, np)
    np.testing.assert_array_equal(chosen, numbers.argsort(axis=1, kind="stable")[:, :12])
