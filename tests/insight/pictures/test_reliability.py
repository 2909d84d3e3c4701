"""The reliability picture: a dot for each bin at its place, for any number of images."""

import numpy as np
import pytest
from PIL import ImageColor

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.colours import BLUE, ORANGE
from tinyvit.insight.pictures.evaluation import FRAME, draw_reliability
from tinyvit.training.evaluation import reliability


def place_of(path, colour):
    """The confidence and the accuracy at the middle of what has a colour."""
    near = np.abs(pixels(path) - ImageColor.getrgb(colour)).sum(-1) < 12
    rows, columns = np.nonzero(near)
    assert len(rows)
    left, top, right, bottom = FRAME
    return (columns.mean() + 0.5 - left) / (right - left), (bottom - rows.mean() - 0.5) / (bottom - top)


@pytest.mark.parametrize("n", [1, 30, 3_000, 3_000_000])
def test_nothing_overlaps_for_any_number_of_images(n, tmp_path, drawn):
    rng = np.random.default_rng(n)
    first = rng.uniform(0, 1, n)
    table = reliability(np.stack([first, 1 - first], axis=1), rng.integers(0, 2, n))
    draw_reliability(table, tmp_path / "r.png", "a title " * 30)
    drawn.assert_nothing_overlaps()
    assert "images in each bin" in drawn.words()


def test_a_bin_is_at_its_confidence_and_accuracy_and_orange_where_the_model_is_too_sure(tmp_path, drawn):
    """Ten images of confidence 0.9, of which six are right, and ten of 0.55, of which eight are."""
    p = np.repeat([[0.9, 0.1], [0.55, 0.45]], 10, axis=0)
    labels = np.array([0] * 6 + [1] * 4 + [0] * 8 + [1] * 2)
    draw_reliability(reliability(p, labels), tmp_path / "r.png", "title")
    assert place_of(tmp_path / "r.png", ORANGE) == pytest.approx((0.9, 0.6), abs=0.005)
    assert place_of(tmp_path / "r.png", BLUE) == pytest.approx((0.55, 0.8), abs=0.005)
    assert drawn.words().count("10") == 2
    assert drawn.words().count("0") == 2  # of the axes: bins without images have no number
    assert any(word.endswith("calibration error 27.5%") for word in drawn.words())


def test_a_model_whose_answers_are_not_numbers_is_drawn_without_dots(tmp_path):
    table = reliability(np.full((3, 2), np.nan), np.zeros(3, int))
    draw_reliability(table, tmp_path / "r.png", "title")
    assert (tmp_path / "r.png").exists()
