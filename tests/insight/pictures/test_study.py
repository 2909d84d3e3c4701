"""Pictures of studies: what is found is drawn, and nothing found is nothing to draw."""

import numpy as np
import pytest
from PIL import Image

from tinyvit.insight.pictures import study
from tinyvit.insight.pictures.colours import SERIES
from tinyvit.insight.pictures.study import Found, draw_lines, draw_rows


def has_colour(path, colour):
    """True if some pixels of a picture have exactly this colour."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    return bool((pixels == [int(colour[i : i + 2], 16) for i in (1, 3, 5)]).all(axis=-1).any())


def test_a_row_for_each_variant_that_has_results(tmp_path):
    found = [Found("none", [0.61]), Found("1d", [0.64, 0.65]), Found("later", [])]
    draw_rows("Which?", "shapes", found, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (study.WIDTH, study.TOP + 2 * study.ROW + study.BOTTOM)


def test_a_line_for_each_name_and_a_level_without_x(tmp_path):
    found = [Found("scratch", [0.5], ("from scratch",))]
    found += [Found("base", [0.6, 0.7], ("depth", "width"), 1e6), Found("deep", [0.8], ("depth",), 2e6)]
    draw_lines("Which?", "shapes", found, "multiply-adds", "{:g}".format, tmp_path / "a.png")
    assert [has_colour(tmp_path / "a.png", colour) for colour in SERIES[:4]] == [True, True, True, False]


def test_one_point_or_a_level_alone_can_be_drawn(tmp_path):
    for found in (Found("a", [0.5, 0.5], ("a",), 0.1), Found("level", [1.0], ("level",))):
        draw_lines("?", "", [found], "x", str, tmp_path / "a.png")
        draw_rows("?", "", [found], tmp_path / "b.png")


def test_nothing_found_is_not_drawn(tmp_path):
    with pytest.raises(ValueError, match="no results"):
        draw_rows("?", "", [Found("a", [])], tmp_path / "a.png")
