"""Several runs on one picture: each in its colour, under its name, without overlaps."""

import math

import numpy as np
import pytest
from PIL import ImageColor

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.colours import BLUE, ORANGE, SERIES
from tinyvit.insight.pictures.curves import colour_of, draw_comparison

LEFT, RIGHT = (
    (slice(80, 415), slice(80, 548)),
    (slice(80, 415), slice(664, 1132)),
)  # rows, columns of the panels


def records(level, epochs=10, images="test", **more):
    return [
        {
            "epoch": e,
            "step": 4 * e,
            "train_loss": level / e,
            f"{images}_loss": level + 1 / e,
            f"{images}_accuracy": level * e / epochs,
            **more,
        }
        for e in range(1, epochs + 1)
    ]


def where(picture, panel, colour):
    """Rows and columns, in a panel, of the pixels in a colour."""
    return np.nonzero(np.abs(picture[panel] - ImageColor.getrgb(colour)).sum(-1) < 30)


@pytest.mark.parametrize("count", [1, 2, 5, 8, 20])
@pytest.mark.parametrize("name", ["run", "a-very-long-name-of-a-run-that-goes-on-and-on-for-ever"])
def test_any_number_of_runs_with_any_names_has_no_overlaps(count, name, tmp_path, drawn):
    runs = [(f"{name}-{i}", records(1 / (i + 1))) for i in range(count)]
    draw_comparison(runs, tmp_path / "c.png")
    drawn.assert_nothing_overlaps()
    for i in range(count):
        assert any(word.startswith(name[:3]) and word.endswith(f"-{i}") for word in drawn.words())


def test_long_names_are_shortened_in_the_middle(tmp_path, drawn):
    draw_comparison([("cifar10-" + "x" * 200 + "-17", records(0.5))], tmp_path / "c.png")
    assert any(w.startswith("cifar10-") and "…" in w and w.endswith("-17") for w in drawn.words())


def test_each_run_has_its_colour_in_both_panels(tmp_path):
    draw_comparison([("a", records(0.9)), ("b", records(0.3))], tmp_path / "c.png")
    picture = pixels(tmp_path / "c.png")
    for panel in (LEFT, RIGHT):  # the first run has the larger loss and the larger accuracy
        first, second = (where(picture, panel, colour)[0] for colour in (BLUE, ORANGE))
        assert len(first) > 200 and len(second) > 200
        assert np.median(first) < np.median(second) - 20


def test_last_values_are_those_of_the_images_that_judge(tmp_path, drawn):
    runs = [("a", records(0.5)), ("b", records(0.75, images="val", test_accuracy=None))]
    runs[1][1][-1]["test_accuracy"] = 0.123
    draw_comparison(runs, tmp_path / "c.png")
    assert {"50.0%", "75.0%", "0.600", "0.850"} <= set(drawn.words())
    assert "12.3%" not in drawn.words()
    assert "accuracy, % (test or validation)" in drawn.words()


def test_training_losses_are_dashed(tmp_path):
    only = [{"epoch": e, "step": e, "train_loss": 1.0} for e in range(1, 11)]
    draw_comparison([("a", only), ("b", records(0.9))], tmp_path / "c.png")
    blue = np.abs(pixels(tmp_path / "c.png")[LEFT][:320] - ImageColor.getrgb(BLUE)).sum(-1) < 200
    assert 0.35 * 452 < blue.sum(axis=1).max() < 0.75 * 452


def test_runs_of_different_lengths_end_where_they_end(tmp_path):
    draw_comparison([("a", records(0.9, 5)), ("b", records(0.5, 9))], tmp_path / "c.png")
    picture = pixels(tmp_path / "c.png")
    for colour, share in ((BLUE, 0.5), (ORANGE, 1.0)):
        assert where(picture, RIGHT, colour)[1].max() == pytest.approx(8 + 452 * share, abs=6)


def test_what_was_not_measured_is_omitted(tmp_path, drawn):
    old = [{"epoch": e, "step": e, "train_loss": math.nan, "test_accuracy": 0.25} for e in (1, 2)]
    draw_comparison([("a", old), ("b", [])], tmp_path / "c.png")
    assert drawn.words().count("not measured yet") == 1
    assert "25.0%" in drawn.words()


def test_steps_are_the_axis_if_one_run_needs_them(tmp_path, drawn):
    several = [{"epoch": 1, "step": s, "test_accuracy": 0.5} for s in (10, 20)]
    draw_comparison([("a", several), ("b", records(0.5))], tmp_path / "c.png")
    assert "step" in drawn.words() and "epoch" not in drawn.words()


def test_colours_beyond_the_eighth_are_paler():
    assert [colour_of(i) for i in range(8)] == list(SERIES)
    assert len({colour_of(i) for i in range(24)}) == 24


@pytest.mark.parametrize("runs", [[], [("a", []), ("b", [])]])
def test_no_records_is_an_error(runs, tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        draw_comparison(runs, tmp_path / "c.png")
