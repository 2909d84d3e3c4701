"""Pictures of what things are worth: a row for each, a mark for what it is beside, a line at 0."""

import pytest
from PIL import Image

from tests.pictures.test_study import has_colour
from tinyvit.pictures import worth
from tinyvit.pictures.colours import INK, SERIES
from tinyvit.pictures.worth import Difference, draw_worth


def test_a_row_for_each_name_and_a_colour_for_each_recipe(tmp_path):
    found = [Difference("salt", "soup", 1.5, (1.0, 2.0), 0.5), Difference("salt", "cake", -0.5)]
    draw_worth("Worth it?", "shapes", [*found, Difference("sugar", "cake", 3.0)], tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (worth.WIDTH, worth.TOP + 2 * worth.ROW + worth.BOTTOM)
    assert [has_colour(tmp_path / "a.png", colour) for colour in SERIES[:3]] == [True, True, False]


@pytest.mark.parametrize("gain", [0.0, 2.5, -40.0])
def test_the_line_at_0_is_always_in_the_picture(tmp_path, gain):
    draw_worth("?", "", [Difference("a", "b", gain)], tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        column = [picture.getpixel((x, worth.TOP + 3)) for x in range(picture.width)]
    assert any(sum(pixel[:3]) < 480 for pixel in column), f"{INK}, perhaps shared by two columns"


def test_nothing_found_is_not_drawn(tmp_path):
    with pytest.raises(ValueError, match="no differences"):
        draw_worth("?", "", [], tmp_path / "a.png")
