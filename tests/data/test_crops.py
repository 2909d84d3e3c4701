"""Random resized crops: boxes as torchvision draws them, and pixels as Pillow resizes them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.helpers import seeds
from tinyvit.backend import to_numpy
from tinyvit.data.augment import crop_and_resize, draw_crops
from tinyvit.data.mixing import Rectangles

sizes = st.tuples(st.integers(1, 40), st.integers(1, 40))


def box_by_hand(tries, row, column, H, W):
    """RandomResizedCrop.get_params of torchvision: top, left, height and width, from tries as they come."""
    for area, ratio in tries:
        width = round(math.sqrt(H * W * area * ratio))
        height = round(math.sqrt(H * W * area / ratio))
        if 0 < width <= W and 0 < height <= H:
            return int(row * (H - height + 1)), int(column * (W - width + 1)), height, width
    width, height = W, H
    if W / H < 3 / 4:
        height = round(W / (3 / 4))
    elif W / H > 4 / 3:
        width = round(H * (4 / 3))
    return (H - height) // 2, (W - width) // 2, height, width


@given(size=sizes, scale=st.sampled_from([0.01, 0.08, 0.35, 0.9]), count=st.integers(1, 6), seed=seeds())
def test_the_first_box_that_fits_is_taken_or_the_middle(size, scale, count, seed):
    crops = draw_crops(np.random.default_rng(seed), count, scale)
    found = zip(*crops.boxes(*size), strict=True)
    for b, (top, bottom, left, right) in enumerate(found):
        tries = zip(crops.area[b], crops.ratio[b], strict=True)
        expected = box_by_hand(tries, crops.row[b], crops.column[b], *size)
        assert (top, left, bottom - top, right - left) == expected
        assert 0 <= top < bottom <= size[0] and 0 <= left < right <= size[1]


def test_areas_are_uniform_and_shapes_are_uniform_in_the_logarithm():
    """The mean of 40,000 shares strays by 0.0013, one time in three; that of logarithms by 0.0009."""
    crops = draw_crops(np.random.default_rng(0), 4000, 0.2)
    assert 0.2 <= crops.area.min() < 0.201 and 0.999 < crops.area.max() <= 1
    assert crops.area.mean() == pytest.approx(0.6, abs=0.007)
    logs = np.log(crops.ratio) / np.log(4 / 3)
    assert -1 <= logs.min() < -0.999 and 0.999 < logs.max() <= 1
    assert logs.mean() == pytest.approx(0, abs=0.015) and (logs**2).mean() == pytest.approx(1 / 3, abs=0.01)


def test_boxes_lie_everywhere_and_as_often_in_one_place_as_in_another():
    where = draw_crops(np.random.default_rng(0), 20_000, 0.3).boxes(6, 6)
    for first, last in ((where.top, where.bottom), (where.left, where.right)):
        of_four = first[last - first == 4]
        shares = np.bincount(of_four) / len(of_four)
        assert len(shares) == 3 and abs(shares - 1 / 3).max() < 0.05


@given(old=sizes, new=sizes, count=st.integers(1, 3), seed=seeds())
def test_pixels_are_those_of_pillow_to_a_rounding_step(old, new, count, seed):
    """Pillow rounds the rows' result to bytes before it goes on to the columns."""
    rng = np.random.default_rng(seed)
    images, indices = rng.integers(0, 256, (4, *old, 3), dtype=np.uint8), rng.integers(0, 4, count)
    boxes = draw_crops(rng, count, 0.1).boxes(*old)
    flip = rng.random(count) < 0.5
    found = crop_and_resize(images, indices, boxes, flip, new)
    assert found.dtype == np.uint8 and found.shape == (count, *new, 3)
    for b, (top, bottom, left, right) in enumerate(zip(*boxes, strict=True)):
        box = Image.fromarray(images[indices[b], top:bottom, left:right])
        expected = np.asarray(box.resize(new[::-1], Image.Resampling.BILINEAR)).astype(int)
        expected = expected[:, ::-1] if flip[b] else expected
        assert abs(found[b] - expected).max() <= 1


def test_a_whole_image_at_its_own_size_is_itself():
    images = np.random.default_rng(0).integers(0, 256, (3, 9, 7, 3), dtype=np.uint8)
    zero, whole = np.zeros(3, int), Rectangles(*(np.full(3, end) for end in (0, 9, 0, 7)))
    found = crop_and_resize(images, np.array([2, 0, 1]), whole, zero > 0, (9, 7))
    np.testing.assert_array_equal(found, images[[2, 0, 1]])


def test_nothing_outside_the_box_is_seen():
    images = np.full((1, 12, 12, 3), 255, np.uint8)
    images[:, 3:9, 2:7] = 100
    box = Rectangles(*(np.array([end]) for end in (3, 9, 2, 7)))
    for size in ((16, 16), (3, 4)):
        assert (crop_and_resize(images, np.zeros(1, int), box, np.zeros(1, bool), size) == 100).all()


def test_boxes_are_resized_where_the_images_are(gpu):
    rng = np.random.default_rng(0)
    images, indices = rng.integers(0, 256, (4, 20, 30, 3), dtype=np.uint8), rng.integers(0, 4, 9)
    boxes, flip = draw_crops(rng, 9, 0.1).boxes(20, 30), rng.random(9) < 0.5
    here = crop_and_resize(images, indices, boxes, flip, (16, 16)).astype(int)
    there = crop_and_resize(gpu.xp.asarray(images), indices, boxes, flip, (16, 16))
    assert isinstance(there, gpu.xp.ndarray) and there.dtype == np.uint8
    assert abs(to_numpy(there) - here).max() <= 1
