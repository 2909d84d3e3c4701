"""The sheet of mistakes: every image with what was said and what it is, without overlaps."""

import numpy as np
import pytest

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.evaluation import SIDE, Mistake, draw_mistakes


def mistake(i=0, size=(32, 32), said="heart", truth="disc"):
    return Mistake(np.full((*size, 3), (10 + 5 * i, 200, 30), np.uint8), said, 0.99 - 0.01 * i, truth)


@pytest.mark.parametrize("count", [1, 2, 6, 7, 24])
def test_every_mistake_is_shown_in_its_order(count, tmp_path, drawn):
    sizes = [((32, 32), (20, 60), (400, 100))[i % 3] for i in range(count)]
    draw_mistakes([mistake(i, size) for i, size in enumerate(sizes)], tmp_path / "m.png", "title")
    drawn.assert_nothing_overlaps()
    assert [word for word in drawn.words() if word.startswith("said")] == [
        f"said heart {99 - i}%" for i in range(count)
    ]
    assert drawn.words().count("is disc") == count
    picture = pixels(tmp_path / "m.png")
    for i, (_, (left, top, right, bottom)) in enumerate(drawn.images):
        assert (picture[int((top + bottom) / 2), int((left + right) / 2)] == (10 + 5 * i, 200, 30)).all()
        assert max(right - left, bottom - top) == SIDE


def test_long_names_are_cut_but_never_the_probability(tmp_path, drawn):
    long = mistake(said="a class with a very long name", truth="another class with a very long name")
    draw_mistakes([long] * 3, tmp_path / "m.png", "a title " * 30)
    drawn.assert_nothing_overlaps()
    assert sum(word.startswith("said a class") and word.endswith("… 99%") for word in drawn.words()) == 3


def test_no_mistakes_are_reported_in_words(tmp_path, drawn):
    draw_mistakes([], tmp_path / "m.png", "title")
    assert "no mistakes" in drawn.words()
    drawn.assert_nothing_overlaps()
