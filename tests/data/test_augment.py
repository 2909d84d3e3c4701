import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyvit.data import balancing
from tinyvit.data.augment import crop_and_flip, draw_augmentation, normalise
from tinyvit.data.dataset import class_counts
from tinyvit.training.evaluation import confusion_counts


def crop_and_flip_naively(images, indices, dy, dx, flip, padding):
    """The textbook way: pad each image, cut out the window, mirror it."""
    height, width = images.shape[1:3]
    batch = []
    for index, down, right, mirrored in zip(indices, dy, dx, flip, strict=True):
        padded = np.pad(images[index], ((padding, padding), (padding, padding), (0, 0)), mode="reflect")
        window = padded[padding + down :, padding + right :][:height, :width]
        batch.append(window[:, ::-1] if mirrored else window)
    return np.stack(batch)


@given(
    n=st.integers(1, 5),
    height=st.integers(2, 9),
    width=st.integers(2, 9),
    count=st.integers(1, 8),
    data=st.data(),
    seed=st.integers(0, 2**32 - 1),
)
def test_crop_and_flip_equals_padding_and_cutting(n, height, width, count, data, seed):
    padding = data.draw(st.integers(0, min(height, width) - 1))
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (n, height, width, 3), dtype=np.uint8)
    indices = rng.integers(0, n, count)
    draw = draw_augmentation(rng, count, padding)
    result = crop_and_flip(images, indices, *draw)
    np.testing.assert_array_equal(result, crop_and_flip_naively(images, indices, *draw, padding))
    assert result.dtype == np.uint8


def test_where_pointers_have_32_bits_pixels_are_taken_by_such_indices(monkeypatch):
    """NumPy's take and bincount may refuse int64 there, so that whatever they are given is cast to intp."""

    class Images(np.ndarray):
        def take(self, indices, axis):
            assert indices.dtype == np.int32
            return np.asarray(self).take(indices, axis=axis)

    monkeypatch.setattr(np, "intp", np.int32)
    images = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), dtype=np.uint8)
    draw = draw_augmentation(np.random.default_rng(1), 2, 1)
    expected = crop_and_flip_naively(images, np.array([2, 0]), *draw, 1)
    np.testing.assert_array_equal(crop_and_flip(images.view(Images), np.array([2, 0]), *draw), expected)
    counted, real = [], np.bincount
    monkeypatch.setattr(
        np, "bincount", lambda x, *a, **named: (counted.append(x.dtype), real(x, *a, **named))[1]
    )
    labels = np.array([0, 1, 1], np.int64)
    assert class_counts(labels, 3).tolist() == [1, 2, 0]
    assert balancing(labels).tolist() == [1, 0.5, 0.5]
    assert confusion_counts(labels, labels, 2).tolist() == [[1, 0], [0, 2]]
    assert set(counted) == {np.dtype(np.int32)}


def test_draws_reach_both_ends_of_the_padding_and_both_sides_of_the_coin():
    dy, dx, flip = draw_augmentation(np.random.default_rng(0), 10_000, padding=3)
    assert set(dy) == set(dx) == set(range(-3, 4))
    assert 4750 < flip.sum() < 5250  # five standard deviations
    for shifts in (dy, dx):
        _, counts = np.unique(shifts, return_counts=True)
        assert abs(counts - 10_000 / 7).max() < 5 * np.sqrt(10_000 / 7)


def test_shifts_down_and_right_are_drawn_independently():
    dy, dx, flip = draw_augmentation(np.random.default_rng(0), 5000, padding=4)
    assert np.abs(np.corrcoef([dy, dx, flip]) - np.eye(3)).max() < 0.06


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normalise_maps_bytes_to_minus_one_to_one(dtype):
    result = normalise(np.array([0, 51, 255], dtype=np.uint8), dtype)
    np.testing.assert_allclose(result, [-1, -0.6, 1], rtol=1e-6)
    assert result.dtype == dtype


def test_normalise_leaves_the_bytes_alone():
    images = np.array([0, 51, 255], dtype=np.uint8)
    normalise(images, np.float32)
    assert images.tolist() == [0, 51, 255]
