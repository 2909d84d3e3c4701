"""The portrait shows all three parts, whatever the numbers of filters, places and images."""

import numpy as np
import pytest
from PIL import Image

from tinyvit.pictures.attention import heat_colours
from tinyvit.pictures.portrait import HEIGHT, attention_panel, filter_panel, save_portrait, similarity_panel


def row(colour=(200, 40, 90), grid=(8, 8)):
    attention = np.full(grid, 0.01)
    attention[-1, -1] = 1.0
    return np.full((32, 32, 3), colour, np.uint8), attention, "disc 99%"


def similarity_of(gh, gw, seed=0):
    e = np.random.default_rng(seed).normal(size=(gh * gw, 5))
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return (e @ e.T).reshape(gh, gw, gh, gw)


def test_filters_stand_in_rows_of_four():
    filters = np.zeros((6, 2, 2, 3))
    filters[4, :, :, 0] = 1  # full red: the fifth, so first of the second row
    panel = np.asarray(filter_panel(filters))
    cell = HEIGHT // 7
    assert (panel[cell + 10, 10] == (255, 128, 128)).all()
    assert (panel[10, 10] == 128).all()
    assert (panel[cell + 10, 2 * cell + 10] == 255).all()


def test_each_place_is_lightest_in_its_own_map():
    panel = np.asarray(similarity_panel(similarity_of(3, 4)))
    cell = HEIGHT / 4
    light = heat_colours(np.array([1.0]))[0]
    for r, c in np.ndindex(3, 4):
        tile = panel[round(r * cell) :, round(c * cell) :][: round(cell - 6), : round(cell - 6)]
        side = (cell - 6) / 4
        assert (tile[int((r + 0.5) * side), int((c + 0.5) * side)] == light).all()


@pytest.mark.parametrize("count", [1, 2, 3, 8, 11])
def test_attention_panel_keeps_its_height_and_shows_every_image(count):
    rows = [row(colour=(250 - 10 * i, 20, 10 * i)) for i in range(count)]
    panel = np.asarray(attention_panel(rows))
    assert panel.shape[0] == HEIGHT
    for image, *_ in rows:
        assert (np.abs(panel.astype(int) - image[0, 0]).max(axis=-1) <= 1).any()


@pytest.mark.parametrize("grid", [(1, 1), (2, 3), (14, 14)])
def test_the_portrait_is_saved_whole(grid, tmp_path):
    filters = np.random.default_rng(1).normal(size=(28, 4, 4, 3))
    save_portrait(filters, similarity_of(*grid), [row(grid=grid)] * 3, tmp_path / "p.png", "a title")
    with Image.open(tmp_path / "p.png") as picture:
        assert picture.height > HEIGHT
        assert (np.asarray(picture.convert("L"))[-20:] == 255).all()
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


def test_no_images_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        save_portrait(np.zeros((1, 2, 2, 3)), similarity_of(2, 2), [], tmp_path / "p.png", "")
