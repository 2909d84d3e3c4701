"""The portrait shows all three parts, whatever the numbers of filters, positions and images."""

import numpy as np
import pytest
from PIL import Image

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.colours import heat_colours
from tinyvit.insight.pictures.portrait import HEIGHT, attention_layout, attention_part, save_portrait
from tinyvit.insight.pictures.sheet import ABOVE, AROUND

FILTERS = np.random.default_rng(1).normal(size=(28, 4, 4, 3))


def row(colour=(200, 40, 90), grid=(8, 8), size=(32, 32), caption="triangle 99%, is diamond"):
    attention = np.full(grid, 0.01)
    attention[-1, -1] = 1.0
    return np.full((*size, 3), colour, np.uint8), attention, caption


def similarity_of(gh, gw, seed=0):
    e = np.random.default_rng(seed).normal(size=(gh * gw, 5))
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return (e @ e.T).reshape(gh, gw, gh, gw)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 20, 21, 100])
def test_any_number_of_images_is_shown_without_overlaps(count, tmp_path, drawn):
    rows = [row(colour=(250 - 2 * i, 20, 2 * i)) for i in range(count)]
    save_portrait(FILTERS, similarity_of(8, 8), rows, tmp_path / "p.png", "a title")
    drawn.assert_nothing_overlaps()
    pairs = drawn.images[len(FILTERS) + 64 + 1 : -1]  # between two scales
    picture = pixels(tmp_path / "p.png")
    for (image, *_), (_, (left, top, right, bottom)) in zip(rows, pairs, strict=True):
        middle = picture[int((top + bottom) / 2), int(left + (right - left) / 4)]
        assert (middle == image[0, 0]).all()


@pytest.mark.parametrize("count", range(1, 101))
def test_images_are_not_tiny_and_their_part_is_not_a_strip(count):
    columns, lines, side = attention_layout(count)
    assert columns * lines >= count > columns * (lines - 1)
    part = attention_part([row()] * count)
    assert side > 110 or (side == 110 and part.height >= HEIGHT)
    assert part.height == HEIGHT or side == 110
    assert 0.5 < part.width / part.height < 2.3


@pytest.mark.parametrize(
    ("grid", "size"),
    [
        ((1, 1), (32, 32)),
        ((2, 3), (20, 90)),
        ((14, 14), (90, 20)),
        ((2, 30), (20, 90)),
        ((30, 2), (90, 20)),
        ((37, 37), (32, 32)),
    ],
)
def test_any_grid_and_shape_of_image_fits(grid, size, tmp_path, drawn):
    rows = [row(grid=grid, size=size, caption="a class with a very long name 100%, is another one")] * 3
    save_portrait(FILTERS, similarity_of(*grid), rows, tmp_path / "p.png", "a title " * 50)
    drawn.assert_nothing_overlaps()
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]
    with Image.open(tmp_path / "p.png") as picture:
        assert (np.asarray(picture.convert("L"))[-10:] == 255).all()


@pytest.mark.parametrize("count", [1, 3, 28, 40])
def test_any_number_of_filters_fits(count, tmp_path, drawn):
    filters = np.random.default_rng(1).normal(size=(count, 16, 16, 3))
    save_portrait(filters, similarity_of(4, 4), [row()], tmp_path / "p.png", "a title")
    drawn.assert_nothing_overlaps()


def test_filters_stand_in_rows_of_four(tmp_path):
    filters = np.zeros((6, 2, 2, 3))
    filters[4, :, :, 0] = 1  # full red: the fifth, so first of the second row
    save_portrait(filters, similarity_of(4, 4), [row()], tmp_path / "p.png", "a title")
    part = pixels(tmp_path / "p.png")[ABOVE:, AROUND:]
    cell = HEIGHT // 7
    assert (part[cell + 10, 10] == (255, 128, 128)).all()
    assert (part[10, 10] == 128).all()
    assert (part[cell + 10, 2 * cell + 10] == 255).all()


def test_each_position_is_lightest_in_its_own_map(tmp_path, drawn):
    save_portrait(FILTERS, similarity_of(3, 4), [row()], tmp_path / "p.png", "a title")
    picture = pixels(tmp_path / "p.png")
    light = heat_colours(np.array(1.0))
    maps = [box for _, box in drawn.images[len(FILTERS) :][:12]]
    for (r, c), (left, top, right, bottom) in zip(np.ndindex(3, 4), maps, strict=True):
        side = (right - left) / 4
        assert (bottom - top) / 3 == pytest.approx(side)
        assert (picture[int(top + (r + 0.5) * side), int(left + (c + 0.5) * side)] == light).all()


def test_no_images_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        save_portrait(np.zeros((1, 2, 2, 3)), similarity_of(2, 2), [], tmp_path / "p.png", "")
