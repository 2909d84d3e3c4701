"""Attention over a photo: bright where the model looks, even where it looks evenly, over all of the photo."""

import numpy as np
import pytest

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.attention import (
    GAP,
    PANEL,
    SCALE_TICKS,
    SeenPhoto,
    attention_heat,
    attention_overlay,
    save_overlays,
)
from tinyvit.insight.pictures.colours import FAINT, heat_colours


def random_image(height, width, seed=5):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def grey_photo(height=32, width=48, box=None, name="", level=90):
    image = np.full((height, width, 3), level, np.uint8)
    return SeenPhoto(image, box or (0, 0, width, height), name)


def attention_at(row, column, grid=(4, 6)):
    attention = np.full(grid, 0.01)
    attention[row, column] = 0.3
    return attention


def sides(pair):
    """The photo and the heat map of a pair, (H, W, 3) int each."""
    picture = np.asarray(pair).astype(int)
    width = (picture.shape[1] - GAP) // 2
    return picture[:, :width], picture[:, width + GAP :]


def luminance(picture):
    return picture @ np.array([0.299, 0.587, 0.114])


@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 4), (3, 2)])
def test_heat_map_is_brightest_where_attention_is_largest(row, column):
    _, heat = sides(attention_overlay(grey_photo(), attention_at(row, column)))
    heat = luminance(heat)
    top, left = np.unravel_index(heat.argmax(), heat.shape)
    patch = heat.shape[0] / 4
    assert (top // patch, left // patch) == (row, column)


def test_attention_outshines_the_photo():
    image = np.zeros((32, 32, 3), np.uint8)
    image[:, :16] = 255  # a bright half without attention beside a dark half with it
    _, heat = sides(attention_overlay(SeenPhoto.seen_whole(image), np.array([[0.0, 1.0]])))
    heat = luminance(heat)
    assert heat[:, -20:].mean() > heat[:, :20].mean() + 20


@pytest.mark.parametrize("size", [(256, 384), (256, 200), (100, 384)])
def test_a_photo_that_fits_is_shown_unchanged_on_the_left(size):
    image = random_image(*size)
    photo, _ = sides(attention_overlay(SeenPhoto.seen_whole(image), attention_at(1, 1)))
    assert np.array_equal(photo, image)


@pytest.mark.parametrize(
    ("height", "width"), [(8, 8), (28, 50), (255, 100), (3000, 4000), (20, 2000), (1, 1)]
)
def test_a_photo_of_any_size_fills_its_panel_and_keeps_its_shape(height, width):
    pair = attention_overlay(grey_photo(height, width), attention_at(1, 1))
    size = (pair.width - GAP) // 2, pair.height
    assert size[0] == PANEL[0] or size[1] == PANEL[1]
    assert size[0] <= PANEL[0] and size[1] <= PANEL[1]
    scale = min(PANEL[0] / width, PANEL[1] / height)
    assert size == (round(width * scale), max(1, round(height * scale)))


# How much attention is how bright.


def test_scale_of_attention_does_not_matter():
    attention = np.random.default_rng(1).random((8, 8))
    assert np.allclose(attention_heat(attention), attention_heat(1e-4 * attention))


def test_heat_counts_doublings_from_an_even_share():
    attention = np.array([[1.0, 2.0, 4.0, 0.5, 0.25, 0.25]]) / 8  # on average 1/6
    shares = attention[0] * 6
    assert np.allclose(attention_heat(attention)[0], 0.5 + np.log2(shares) / 6)
    labels = {label: 0.5 + doublings / 6 for doublings, label in SCALE_TICKS}
    assert labels["1"] == 0.5
    assert (labels["1/8"], labels["8"]) == (0, 1)


def test_all_but_even_attention_looks_even():
    attention = 1 / 64 + np.random.default_rng(0).uniform(-1e-3, 1e-3, (8, 8))  # 6% more or less
    _, heat = sides(attention_overlay(grey_photo(), attention))
    assert np.ptp(heat, axis=(0, 1)).max() < 20
    _, lively = sides(attention_overlay(grey_photo(), attention_at(0, 0)))
    assert np.ptp(lively, axis=(0, 1)).max() > 100


@pytest.mark.parametrize(
    "attention", [np.full((8, 8), 1 / 64), np.zeros((8, 8)), np.full((1, 1), 3, np.float32)]
)
def test_uniform_attention_is_one_colour_without_a_warning(attention):
    with np.errstate(all="raise"):
        pair = attention_overlay(grey_photo(), attention)
    _, heat = sides(pair)
    assert (heat == heat[0, 0]).all()


# The part that the model saw.


def test_what_the_model_did_not_see_is_a_pale_grey():
    image = np.full((100, 200, 3), (200, 40, 40), np.uint8)
    photo, heat = sides(attention_overlay(SeenPhoto(image, (50, 0, 150, 100)), np.ones((4, 4)), (200, 100)))
    assert (photo == (200, 40, 40)).all()  # the photo itself is whole
    for unseen in (heat[:, :50], heat[:, 150:]):
        assert np.ptp(unseen, axis=-1).max() == 0  # no colour
        assert luminance(unseen).min() > 180
    assert np.ptp(heat[:, 50:150], axis=-1).min() > 30


def test_attention_is_drawn_where_the_part_is():
    attention = np.full((4, 4), 0.01)
    attention[1, 2] = 1.0
    _, heat = sides(attention_overlay(grey_photo(100, 200, (60, 20, 140, 100)), attention, (200, 100)))
    part = luminance(heat)[20:100, 60:140]
    top, left = np.unravel_index(part.argmax(), part.shape)
    assert (top // 20, left // 20) == (1, 2)


def test_padding_beyond_the_photo_is_shown_with_its_attention():
    image = np.full((100, 200, 3), 90, np.uint8)
    attention = np.full((4, 4), 0.01)
    attention[0, 0] = 1.0  # in the padding above the photo
    photo, heat = sides(attention_overlay(SeenPhoto(image, (0, -50, 200, 150)), attention, (200, 200)))
    assert photo.shape == (200, 200, 3)
    assert (photo[50:150] == 90).all()
    padding = np.concatenate([photo[:50], photo[150:]])
    assert (padding == [int(FAINT[i : i + 2], 16) for i in (1, 3, 5)]).all()
    top, left = np.unravel_index(luminance(heat).argmax(), heat.shape[:2])
    assert top < 50 and left < 50


@pytest.mark.parametrize("attention", [np.ones(16), np.array([[1.0, np.nan]]), np.array([[1.0, -0.5]])])
def test_wrong_shapes_and_numbers_are_refused(attention):
    with pytest.raises(ValueError, match="expected"):
        attention_overlay(grey_photo(), attention)


# The contact sheet.


@pytest.mark.parametrize("count", [1, 3, 12])
def test_contact_sheet_shows_every_pair_with_its_name_and_prediction(count, tmp_path, drawn):
    colours = [(250 - 5 * i, 10, 5 * i) for i in range(count)]
    shapes = [((40, 32), (32, 40), (10, 90), (300, 20))[i % 4] for i in range(count)]
    rows = []
    for i, (colour, (height, width)) in enumerate(zip(colours, shapes, strict=True)):
        photo = SeenPhoto.seen_whole(np.full((height, width, 3), colour, np.uint8), f"photo-{i}.jpg")
        rows.append((photo, attention_at(0, i % 4), f"cat {i}.5%"))
    save_overlays(rows, tmp_path / "sheet.png")
    for i in range(count):
        assert {f"photo-{i}.jpg", f"cat {i}.5%"} <= set(drawn.words())
    drawn.assert_nothing_overlaps()
    picture = pixels(tmp_path / "sheet.png")
    for colour, (_, (left, top, right, bottom)) in zip(colours, drawn.images, strict=False):
        middle = picture[int((top + bottom) / 2), int(left + (right - left) / 4)]
        assert (middle == colour).all()


def test_the_scale_is_drawn_with_its_numbers(tmp_path, drawn):
    save_overlays([(grey_photo(), attention_at(0, 0), "cat")], tmp_path / "sheet.png")
    assert [word for word in drawn.words() if word in dict(map(reversed, SCALE_TICKS))] == [
        label for _, label in SCALE_TICKS
    ]
    picture = pixels(tmp_path / "sheet.png")
    for heat in (0.0, 0.25, 0.5, 1.0):
        colour = heat_colours(np.array(heat))
        assert (np.abs(picture - colour).sum(-1) < 8).any()


def test_long_names_and_predictions_are_cut_to_their_pair(tmp_path, drawn):
    rows = [(grey_photo(name="folder-" + "x" * 300 + "-17.jpg"), attention_at(0, 0), "W" * 500)] * 2
    save_overlays(rows, tmp_path / "sheet.png")
    drawn.assert_nothing_overlaps()
    assert any(word.startswith("folder-") and word.endswith("-17.jpg") for word in drawn.words())


def test_a_photo_without_a_name_has_one_line(tmp_path, drawn):
    save_overlays([(grey_photo(), attention_at(0, 0), "cat")], tmp_path / "sheet.png")
    assert drawn.words()[0] == "cat"


def test_no_rows_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        save_overlays([], tmp_path / "sheet.png")
