import numpy as np
import pytest

from tinyvit.ops import Noise

IMAGES, NUMBERS = 64, 4096


@pytest.fixture(scope="module")
def uniform():
    """64 images of 4096 numbers."""
    return Noise(seed=1, step=2).uniform((IMAGES, NUMBERS), np).astype("float64")


def correlations(a, b):
    """|correlation| of every row of a with every row of b, in standard errors."""
    a, b = ((rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True) for rows in (a, b))
    return np.abs(a @ b.T / a.shape[1]) * np.sqrt(a.shape[1])


def test_numbers_are_float32_from_0_to_below_1(uniform):
    numbers = Noise(0, 0).uniform((3, 4, 5), np)
    assert numbers.dtype == np.float32 and numbers.shape == (3, 4, 5)
    assert uniform.min() >= 0 and uniform.max() < 1


def test_mean_variance_and_histogram_are_those_of_uniform_numbers(uniform):
    count = uniform.size
    assert abs(uniform.mean() - 1 / 2) < 5 * np.sqrt(1 / 12 / count)
    assert abs(uniform.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / count)
    bins = np.bincount((uniform.ravel() * 64).astype(int), minlength=64)
    chi_squared = ((bins - count / 64) ** 2).sum() / (count / 64)
    assert abs(chi_squared - 63) < 5 * np.sqrt(2 * 63)


def test_each_image_alone_is_uniform(uniform):
    assert (np.abs(uniform.mean(axis=1) - 1 / 2) < 5 * np.sqrt(1 / 12 / NUMBERS)).all()


def test_images_are_not_correlated(uniform):
    correlation = correlations(uniform, uniform)
    assert correlation[~np.eye(IMAGES, dtype=bool)].max() < 5.5


@pytest.mark.parametrize("lag", [1, 2, 16, 64])
def test_neighbours_in_an_image_are_not_correlated(uniform, lag):
    assert correlations(uniform[:, lag:], uniform[:, :-lag]).diagonal().max() < 5


def test_draws_steps_and_seeds_are_not_correlated(uniform):
    noise = Noise(seed=1, step=2)
    noise.uniform((1, 1), np)
    second_draw = noise.uniform((IMAGES, NUMBERS), np)
    others = [
        second_draw,
        *(Noise(*name).uniform((IMAGES, NUMBERS), np) for name in ((1, 3), (2, 2), (2, 1))),
    ]
    for i, other in enumerate(others):
        assert correlations(uniform, other.astype("float64")).max() < 6, i


def test_the_same_sequence_of_calls_gives_the_same_numbers():
    first, again = Noise(7, 8), Noise(7, 8)
    for shape in ((3, 5), (2, 4, 4), (6, 1)):
        np.testing.assert_array_equal(first.uniform(shape, np), again.uniform(shape, np))


def test_the_random_numbers_of_an_image_depend_only_on_its_index_in_the_batch():
    whole = Noise(7, 8).uniform((10, 6), np)
    np.testing.assert_array_equal(Noise(7, 8, first=4).uniform((3, 6), np), whole[4:7])


def lowbias32(x):
    """The mixing function as Chris Wellons published it, on a Python integer."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        x = (x ^ x >> shift) * factor & 0xFFFFFFFF
    return x


def test_every_number_is_the_published_hash_of_seed_step_draw_image_and_place():
    """A run resumed with a later version must see the same noise, so the numbers must never change."""
    noise = Noise(7, 8, first=3)
    for draw in (1, 2):
        numbers = noise.uniform((2, 5), np)
        key = [int(part) for part in np.random.SeedSequence((7, 8, draw)).generate_state(2)]
        for image, place in np.ndindex(2, 5):
            own = lowbias32(lowbias32((image + 3) ^ key[0]) ^ key[1])
            bits = lowbias32(lowbias32(place ^ own) + own & 0xFFFFFFFF)
            assert numbers[image, place] == (bits >> 8) / 2**24
