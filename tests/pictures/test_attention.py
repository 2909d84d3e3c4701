"""Attention over a photo: bright where the model looks, large enough to see, saved whole or not at all."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from tinyvit.errors import UserError
from tinyvit.pictures.attention import GAP, attention_overlay, heat_colours, save_overlays


def random_image(height, width, seed=5):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def attention_at(row, column, grid=(4, 6)):
    attention = np.full(grid, 0.01)
    attention[row, column] = 0.3
    return attention


def luminance(image):
    return np.asarray(image.convert("L")).astype(float)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 4), (3, 2)])
def test_heat_map_is_brightest_where_attention_is_largest(row, column):
    image = np.full((32, 48, 3), 90, np.uint8)
    pair = attention_overlay(image, attention_at(row, column))
    heat = luminance(pair)[:, pair.width // 2 + GAP // 2 :]
    top, left = np.unravel_index(heat.argmax(), heat.shape)
    patch = heat.shape[0] / 4
    assert (top // patch, left // patch) == (row, column)


def test_attention_outshines_the_photo():
    image = np.zeros((32, 32, 3), np.uint8)
    image[:, :16] = 255  # a bright half without attention beside a dark half with it
    pair = attention_overlay(image, np.array([[0.0, 1.0]]))
    heat = luminance(pair)[:, pair.width // 2 + GAP // 2 :]
    assert heat[:, -20:].mean() > heat[:, :20].mean() + 20


def test_photo_stands_on_the_left_as_it_is():
    image = random_image(300, 260)
    pair = attention_overlay(image, attention_at(1, 1))
    assert np.array_equal(np.asarray(pair)[:, :260], image)


@pytest.mark.parametrize(("height", "width"), [(32, 32), (28, 50), (255, 100), (600, 400)])
def test_panels_are_at_least_256_pixels_high_and_keep_their_shape(height, width):
    pair = attention_overlay(random_image(height, width), attention_at(1, 1))
    assert pair.height >= 256
    assert (pair.width - GAP) / 2 / pair.height == width / height


def test_scale_and_offset_of_attention_do_not_matter():
    image, attention = random_image(32, 32), np.random.default_rng(1).random((8, 8))
    one, other = (
        np.asarray(attention_overlay(image, a)).astype(int) for a in (attention, 3 + 1e-4 * attention)
    )
    assert np.abs(one - other).max() <= 1


def test_even_attention_is_drawn_without_warnings():
    with np.errstate(all="raise"):
        pair = attention_overlay(np.full((32, 32, 3), 90, np.uint8), np.full((8, 8), 1 / 64))
    heat = np.asarray(pair)[:, pair.width // 2 + GAP // 2 :]
    assert (heat == heat[0, 0]).all()


def test_heat_colours_grow_lighter_evenly():
    lightness = heat_colours(np.linspace(0, 1, 64)) @ np.array([0.299, 0.587, 0.114])
    steps = np.diff(lightness)
    assert steps.min() > 0
    assert steps.max() < 4 * steps.mean()


@pytest.mark.parametrize(
    ("image", "attention"),
    [
        (np.zeros((32, 32), np.uint8), np.ones((4, 4))),
        (np.zeros((3, 32, 32), np.uint8), np.ones((4, 4))),
        (np.zeros((32, 32, 3), np.float32), np.ones((4, 4))),
        (np.zeros((32, 32, 3), np.uint8), np.ones(16)),
        (np.zeros((32, 32, 3), np.uint8), np.array([[1.0, np.nan]])),
    ],
)
def test_wrong_shapes_are_refused(image, attention):
    with pytest.raises(ValueError, match="expected"):
        attention_overlay(image, attention)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_contact_sheet_shows_every_pair_and_caption(count, tmp_path, monkeypatch):
    captions = []
    draw_text = ImageDraw.ImageDraw.text

    def text(self, xy, text, *args, **kwargs):
        captions.append(text)
        draw_text(self, xy, text, *args, **kwargs)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", text)
    colours = [(250 - 20 * i, 10, 30 * i) for i in range(count)]
    rows = [
        (np.full((32, 40, 3), colour, np.uint8), attention_at(0, i % 4), f"cat {i}.5%")
        for i, colour in enumerate(colours)
    ]
    save_overlays(rows, tmp_path / "sheet.png")
    assert captions == [f"cat {i}.5%" for i in range(count)]
    with Image.open(tmp_path / "sheet.png") as sheet:
        picture = np.asarray(sheet.convert("RGB"))
    for colour in colours:
        assert (picture == colour).all(-1).sum() == 256 * 320


def test_long_caption_is_cut_to_its_pair(tmp_path):
    rows = [(random_image(32, 32), attention_at(0, 0), "W" * 500)]
    save_overlays(rows, tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        picture = np.asarray(sheet.convert("L"))
    assert (picture[285:310, :-30] < 100).any()
    assert (picture[:, -20:] == 255).all()


def test_failing_write_leaves_the_old_sheet(tmp_path, monkeypatch):
    path = tmp_path / "sheet.png"
    path.write_bytes(b"old")

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(UserError, match="No space"):
        save_overlays([(random_image(32, 32), attention_at(0, 0), "cat")], path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_rows_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        save_overlays([], tmp_path / "sheet.png")
