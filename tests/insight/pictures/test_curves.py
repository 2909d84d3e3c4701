"""The picture of a run: it shows what was measured, by the names of the images it was measured on."""

import math

import numpy as np
import pytest
from PIL import ImageColor

from tests.insight.pictures.drawn import pixels
from tinyvit.insight.pictures.colours import BLUE, GREEN, ORANGE
from tinyvit.insight.pictures.curves import ACCURACY_BOX, HEIGHT, LOSS_BOX, WIDTH, draw_curves

LEFT, RIGHT = slice(60, 545), slice(645, 1130)  # columns of the two panels


def record(epoch, loss=1.0, accuracy=0.5, **more):
    """A record of a run of old, before both losses were written; `more` adds them."""
    return {"epoch": epoch, "step": 40 * epoch, "train_loss": loss, "test_accuracy": accuracy, **more}


def places(picture, colour):
    """Rows and columns (two arrays) of the pixels in a colour."""
    return np.nonzero(np.abs(picture - ImageColor.getrgb(colour)).sum(-1) < 40)


def test_curves_go_the_way_the_numbers_go(tmp_path):
    draw_curves([record(e, 2.0 - 0.15 * e, 0.05 * e) for e in range(1, 13)], tmp_path / "c.png", "run")
    picture = pixels(tmp_path / "c.png")
    for panel, colour, direction in ((LEFT, BLUE, 1), (RIGHT, GREEN, -1)):
        rows, columns = places(picture[:, panel], colour)
        assert columns.max() - columns.min() > 400
        assert direction * np.corrcoef(rows, columns)[0, 1] > 0.99


def test_last_values_and_title_are_written(tmp_path, drawn):
    draw_curves([record(1, 1.5, 0.3), record(2, 0.8123, 0.7125)], tmp_path / "c.png", "shapes · vit-nano/4")
    assert {"shapes · vit-nano/4", "0.812", "71.2%", "training loss", "accuracy, %", "epoch"} <= set(
        drawn.words()
    )


def test_summary_has_best_accuracy_rate_and_time(tmp_path, drawn):
    records = [record(1, accuracy=0.9), record(2, accuracy=0.8, images_per_second=812.3, seconds=82)]
    draw_curves(records, tmp_path / "c.png", "run")
    assert "epoch 2   ·   best test accuracy 90.0%   ·   812 img/s   ·   1:22" in drawn.words()


def test_one_epoch_is_a_dot_in_each_panel(tmp_path):
    draw_curves([record(1)], tmp_path / "c.png", "run")
    picture = pixels(tmp_path / "c.png")
    for panel, colour in ((slice(300, 320), BLUE), (slice(884, 910), GREEN)):
        assert len(places(picture[:, panel], colour)[0]) > 20


@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
def test_values_that_were_not_measured_are_omitted(missing, tmp_path, drawn):
    losses = [3.0, missing, 1.0, missing]
    draw_curves(
        [record(e, loss, loss and loss / 4) for e, loss in enumerate(losses, 1)], tmp_path / "c.png", "run"
    )
    assert {"1.000", "25.0%"} <= set(drawn.words())
    _, columns = places(pixels(tmp_path / "c.png")[:, LEFT], BLUE)
    assert columns.max() < 400  # the axis ends at column 480, the curve two thirds of the way


def test_accuracy_axis_ends_at_a_hundred_percent(tmp_path, drawn):
    draw_curves([record(1, accuracy=1.0)], tmp_path / "c.png", "run")
    of_panel = drawn.words()[drawn.words().index("accuracy, %") + 1 :]
    ticks = [float(text) for text in of_panel if text.isdigit()]
    assert max(ticks) == 100


def test_accuracy_that_was_never_measured_is_mentioned(tmp_path, drawn):
    draw_curves([record(e, accuracy=None) for e in (1, 2)], tmp_path / "c.png", "run")
    assert drawn.words().count("not measured yet") == 1


def test_validation_has_its_own_curve_and_labels_keep_apart(tmp_path, drawn):
    records = [record(1, accuracy=0.1, val_accuracy=0.1), record(2, accuracy=0.5, val_accuracy=0.499)]
    draw_curves(records, tmp_path / "c.png", "run")
    assert {"test", "validation"} <= set(drawn.words())
    drawn.assert_nothing_overlaps()
    assert len(places(pixels(tmp_path / "c.png"), ORANGE)[0]) > 400


def test_both_losses_are_drawn_and_named(tmp_path, drawn):
    records = [record(e, 2 / e, test_loss=1 + 1 / e) for e in range(1, 9)]
    draw_curves(records, tmp_path / "c.png", "run")
    assert {"loss", "training", "test", "0.250", "1.125"} <= set(drawn.words())
    assert "training loss" not in drawn.words()
    drawn.assert_nothing_overlaps()
    left = pixels(tmp_path / "c.png")[:, LEFT]
    heights = [np.median(places(left, colour)[0]) for colour in (BLUE, GREEN)]
    assert heights[0] > heights[1] + 20


def test_test_images_measured_once_next_to_validation_images_are_a_dot(tmp_path, drawn):
    records = [record(e, test_accuracy=None, val_accuracy=e / 10, val_loss=1 / e) for e in range(1, 6)]
    records[-1] |= {"test_accuracy": 0.45, "test_loss": 0.21}
    draw_curves(records, tmp_path / "c.png", "run", best_epoch=5)
    assert {"training", "validation", "test", "0.210", "45.0%", "50.0%"} <= set(drawn.words())
    drawn.assert_nothing_overlaps()


@pytest.mark.parametrize(("validation", "colour"), [(False, GREEN), (True, ORANGE)])
def test_a_star_marks_the_epoch_that_the_caller_calls_best(validation, colour, tmp_path, drawn):
    name = "val" if validation else "test"
    records = [record(e, accuracy=None if validation else 0.5) for e in range(1, 6)]
    for e, r in enumerate(records):
        r |= {f"{name}_accuracy": (0.1, 0.9, 0.7, 0.9, 0.6)[e], f"{name}_loss": 1.0 + e / 4}
    draw_curves(records, tmp_path / "c.png", "run", best_epoch=4)  # the second is as accurate
    marked = [at for at, c in drawn.stars if c == colour]
    for (x, _), box in zip(marked, (LOSS_BOX, ACCURACY_BOX), strict=True):
        assert x == pytest.approx(box[0] + 3 / 4 * (box[2] - box[0]))
    assert marked[0][1] == pytest.approx(124 + 300 * (2 - 1.75))  # its loss on an axis from 1 to 2
    assert marked[1][1] == pytest.approx(124 + 300 * (100 - 90) / 100)
    assert drawn.words().count("best epoch 4") == 2
    images = "validation" if validation else "test"
    assert any(f"best epoch 4: {images} accuracy 90.0%" in text for text in drawn.words())
    drawn.assert_nothing_overlaps()


def test_without_a_best_epoch_there_is_no_star(tmp_path, drawn):
    draw_curves([record(e, test_loss=1.0) for e in range(1, 6)], tmp_path / "c.png", "run")
    assert drawn.stars == []


def test_a_long_title_is_cut_at_the_edge(tmp_path, drawn):
    draw_curves([record(1), record(2)], tmp_path / "c.png", "a long title " * 20)
    drawn.assert_nothing_overlaps()
    assert drawn.words()[0].startswith("a long title a long title")


def test_five_curves_that_end_at_one_height_keep_their_labels_inside(tmp_path, drawn):
    more = {"test_loss": 1e-9, "val_loss": 1e-9, "val_accuracy": 1e-9}
    draw_curves([record(e, 1 / e, 0.0, **more) for e in (1, 9)], tmp_path / "c.png", "run", best_epoch=9)
    drawn.assert_nothing_overlaps()


def test_a_thousand_epochs_stay_inside_the_axes(tmp_path):
    rng = np.random.default_rng(3)
    records = [record(e, 2 + math.sin(e), rng.uniform(0, 1)) for e in range(1, 1001)]
    draw_curves(records, tmp_path / "c.png", "run")
    picture = pixels(tmp_path / "c.png")
    for panel, colour in ((LEFT, BLUE), (RIGHT, GREEN)):
        rows, _ = places(picture[:, panel], colour)
        assert rows.min() >= 120
        assert rows.max() <= 428


def test_several_records_an_epoch_are_drawn_against_steps(tmp_path, drawn):
    draw_curves([record(1), record(1, step=80), record(2)], tmp_path / "c.png", "run")
    assert "step" in drawn.words()
    assert "epoch" not in drawn.words()


def test_no_records_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        draw_curves([], tmp_path / "c.png", "run")


def test_the_picture_has_its_size(tmp_path):
    draw_curves([record(1)], tmp_path / "c.png", "run")
    assert pixels(tmp_path / "c.png").shape == (HEIGHT, WIDTH, 3)
