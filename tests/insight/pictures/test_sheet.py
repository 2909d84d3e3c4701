"""The paper: what is drawn lies where it was put, and is saved whole or not at all."""

import numpy as np
import pytest
from PIL import Image, ImageColor

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.colours import BLUE, HEAT_COLOURS, SERIES, heat_colours
from tinyvit.insight.pictures.sheet import Sheet
from tinyvit.support.errors import UserError
from tinyvit.support.files import is_marked


def inked(sheet):
    """Rows and columns of what is not paper, as (top, left, bottom, right)."""
    rows, columns = np.nonzero((np.asarray(sheet.finished()) < 250).any(axis=-1))
    return rows.min(), columns.min(), rows.max(), columns.max()


@pytest.mark.parametrize(("pixels_a_point", "smooth"), [(1, 1), (1, 3), (2, 2)])
def test_positions_and_sizes_are_in_points(pixels_a_point, smooth):
    sheet = Sheet(60, 40, pixels_a_point, smooth)
    sheet.rectangle(10, 20, 30, 10, BLUE)
    assert sheet.finished().size == (60 * pixels_a_point, 40 * pixels_a_point)
    expected = np.array([20, 10, 30, 40]) * pixels_a_point
    assert np.abs(np.array(inked(sheet)) - expected).max() <= 1


def test_images_on_a_sheet_without_smoothing_are_saved_unchanged(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    sheet = Sheet(30, 20, smooth=1)
    sheet.image(3, 5, image)
    sheet.save(tmp_path / "a.png")
    assert np.array_equal(pixels(tmp_path / "a.png")[5:12, 3:12], image)


def test_images_are_enlarged_pixel_by_pixel():
    sheet = Sheet(40, 40, smooth=1)
    sheet.image(0, 0, np.array([[0, 200], [100, 50]], np.uint8), width=20)
    picture = np.asarray(sheet.finished())[:20, :20, 0]
    assert np.array_equal(picture, np.kron([[0, 200], [100, 50]], np.ones((10, 10))))


def test_lines_are_smooth():
    sheet = Sheet(40, 40)
    sheet.line([(2, 3), (37, 30)], "#000000", 2)
    grey = np.asarray(sheet.finished().convert("L"))
    assert ((grey > 20) & (grey < 235)).sum() > 30


def test_dashes_follow_the_line_and_leave_gaps():
    sheet = Sheet(120, 40)
    sheet.dashes([(10, 20), (60, 20), (110, 20)], "#000000", 2)
    dark = (np.asarray(sheet.finished().convert("L"))[20] < 128).astype(int)
    assert inked(sheet)[1] >= 8 and inked(sheet)[3] <= 112
    assert np.abs(np.diff(dark)).sum() == 20  # ten dashes
    assert 45 <= dark.sum() <= 55


def test_a_star_points_upwards():
    sheet = Sheet(40, 40)
    sheet.star((20, 20), 15, BLUE)
    blue = np.abs(np.asarray(sheet.finished()).astype(int) - ImageColor.getrgb(BLUE)).sum(-1) < 40
    assert blue[8, 20] and blue[20, 20]  # the tip and the middle
    assert blue[29, 13] and blue[29, 26]  # the feet
    assert not blue[29, 20]  # between them


def test_a_failing_write_leaves_the_old_picture_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(UserError, match="No space"):
        Sheet(10, 10).save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_picture_is_replaced(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    Sheet(10, 20).save(str(path))
    with Image.open(path) as image:
        assert (image.format, image.size) == ("PNG", (10, 20))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("pixels_a_point", "smooth"), [(1, 1), (2, 3)])
def test_a_picture_says_that_tinyvit_drew_it(tmp_path, pixels_a_point, smooth):
    path = tmp_path / "a.png"
    assert not is_marked(path)
    Image.new("RGB", (10, 10)).save(path)
    assert not is_marked(path)
    Sheet(10, 10, pixels_a_point, smooth).save(path)
    assert is_marked(path)
    with Image.open(path) as image:
        assert image.text == {"Software": "tinyvit"}


# Colours.


def lightness(colours):
    return colours @ np.array([0.299, 0.587, 0.114])


def test_heat_colours_grow_lighter_evenly():
    steps = np.diff(lightness(heat_colours(np.linspace(0, 1, 64))))
    assert steps.min() > 0
    assert steps.max() < 4 * steps.mean()


def test_heat_beyond_the_ends_is_that_of_the_ends():
    ends = heat_colours(np.array([-3.0, 0.0, 1.0, 7.0]))
    assert np.array_equal(ends, HEAT_COLOURS[[0, 0, -1, -1]])


def test_the_colours_of_eight_curves_can_be_told_apart():
    colours = np.array([ImageColor.getrgb(colour) for colour in SERIES])
    apart = np.abs(colours[:, None] - colours).sum(-1) + 999 * np.eye(len(SERIES))
    assert len(SERIES) == 8
    assert apart.min() > 90
