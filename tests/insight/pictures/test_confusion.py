"""The picture of a confusion matrix: counts where they belong, names that fit, for 2 to 100 classes."""

import numpy as np
import pytest
from PIL import ImageColor

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.colours import BLUE
from tinyvit.insight.pictures.evaluation import draw_confusion


def counts_of(classes, images=100):
    rng = np.random.default_rng(0)
    shares = np.eye(classes) * 4 + rng.dirichlet(np.ones(classes), classes)
    return np.array([rng.multinomial(images, row / row.sum()) for row in shares])


@pytest.mark.parametrize("classes", [2, 3, 10, 27, 100])
@pytest.mark.parametrize("images", [100, 1_000_000])
def test_nothing_overlaps_for_any_number_of_classes(classes, images, tmp_path, drawn):
    names = [("disc", "a class with a very long name", "q")[i % 3] + f" {i}" for i in range(classes)]
    draw_confusion(counts_of(classes, images), names, tmp_path / "c.png", "a title " * 30)
    drawn.assert_nothing_overlaps()
    assert f"q {classes - classes % 3 - 1}" in drawn.words() or classes == 2


def test_counts_stand_in_the_row_of_what_it_is(tmp_path, drawn):
    draw_confusion(np.array([[5, 3], [1, 11]]), ["cat", "dog"], tmp_path / "c.png", "title")
    at = {text: box for text, box in drawn.texts if text in ("5", "3", "1", "11")}
    names = {
        text: box for text, box in drawn.texts if text in ("cat", "dog")
    }  # the last ones: beside the rows
    assert at["5"][0] < at["3"][0] and at["1"][0] < at["11"][0]
    assert at["5"][1] == at["3"][1] < at["1"][1] == at["11"][1]
    assert len(names) == 2
    assert {"62.5%", "91.7%"} <= set(drawn.words())


def test_a_cell_without_images_stays_empty_and_a_class_without_images_has_no_share(tmp_path, drawn):
    draw_confusion(np.array([[4, 0], [0, 0]]), ["cat", "dog"], tmp_path / "c.png", "title")
    assert "0" not in drawn.words()
    assert {"100.0%", "-"} <= set(drawn.words())


def test_colour_is_the_share_of_a_row(tmp_path):
    draw_confusion(np.array([[1000, 0], [0, 1]]), ["cat", "dog"], tmp_path / "c.png", "title")
    picture = pixels(tmp_path / "c.png")
    blue = np.abs(picture - ImageColor.getrgb(BLUE)).sum(-1) < 6
    assert 6000 < blue.sum() < 2 * 64 * 64  # both cells on the diagonal, whatever their counts


def test_names_of_columns_are_read_from_below(tmp_path):
    draw_confusion(np.eye(2, dtype=int), ["WWWWWWWWWW", "W"], tmp_path / "c.png", "title")
    dark = pixels(tmp_path / "c.png").sum(-1) < 250
    rows, columns = np.nonzero(dark[80:210, 170:240])  # above the first column
    assert np.ptp(rows) > 4 * np.ptp(columns)


@pytest.mark.parametrize(
    ("counts", "classes"), [(np.eye(3), 2), (np.eye(1), 1), (np.eye(101), 101), (np.ones((2, 3)), 2)]
)
def test_other_shapes_are_refused(counts, classes, tmp_path):
    with pytest.raises(ValueError, match="expected"):
        draw_confusion(counts, [str(i) for i in range(classes)], tmp_path / "c.png", "title")
    assert not (tmp_path / "c.png").exists()
