"""The picture of a run: it shows what was measured, and never leaves half a file."""

import math

import numpy as np
import pytest
from PIL import Image, ImageColor, ImageDraw

from tinyvit.errors import UserError
from tinyvit.pictures import curves
from tinyvit.pictures.curves import draw_curves, nice_ticks

LEFT, RIGHT = slice(60, 545), slice(645, 1130)  # columns of the two panels


def record(epoch, loss=1.0, accuracy=0.5, **more):
    return {"epoch": epoch, "step": 40 * epoch, "train_loss": loss, "test_accuracy": accuracy, **more}


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def places(picture, colour):
    """Rows and columns (two arrays) of the pixels in a colour."""
    return np.nonzero(np.abs(picture - ImageColor.getrgb(colour)).sum(-1) < 40)


@pytest.fixture
def texts(monkeypatch):
    """Every text that is drawn from here on."""
    drawn = []
    draw_text = ImageDraw.ImageDraw.text

    def text(self, xy, text, *args, **kwargs):
        drawn.append(text)
        draw_text(self, xy, text, *args, **kwargs)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", text)
    return drawn


def test_curves_go_the_way_the_numbers_go(tmp_path):
    draw_curves([record(e, 2.0 - 0.15 * e, 0.05 * e) for e in range(1, 13)], tmp_path / "c.png", "run")
    picture = pixels(tmp_path / "c.png")
    for panel, colour, direction in ((LEFT, curves.BLUE, 1), (RIGHT, curves.GREEN, -1)):
        rows, columns = places(picture[:, panel], colour)
        assert columns.max() - columns.min() > 400
        assert direction * np.corrcoef(rows, columns)[0, 1] > 0.99


def test_last_values_and_title_are_written(tmp_path, texts):
    draw_curves([record(1, 1.5, 0.3), record(2, 0.8123, 0.7125)], tmp_path / "c.png", "shapes · vit-nano/4")
    assert {"shapes · vit-nano/4", "0.812", "71.2%", "training loss", "accuracy, %", "epoch"} <= set(texts)


def test_summary_has_best_accuracy_rate_and_time(tmp_path, texts):
    records = [record(1, accuracy=0.9), record(2, accuracy=0.8, images_per_second=812.3, seconds=82)]
    draw_curves(records, tmp_path / "c.png", "run")
    assert "epoch 2   ·   best test accuracy 90.0%   ·   812 img/s   ·   1:22" in texts


def test_one_epoch_is_a_dot_in_each_panel(tmp_path):
    draw_curves([record(1)], tmp_path / "c.png", "run")
    picture = pixels(tmp_path / "c.png")
    for panel, colour in ((slice(300, 320), curves.BLUE), (slice(884, 910), curves.GREEN)):
        assert len(places(picture[:, panel], colour)[0]) > 20


@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
def test_values_not_measured_are_left_out(missing, tmp_path, texts):
    losses = [3.0, missing, 1.0, missing]
    draw_curves(
        [record(e, loss, loss and loss / 4) for e, loss in enumerate(losses, 1)], tmp_path / "c.png", "run"
    )
    assert {"1.000", "25.0%"} <= set(texts)
    _, columns = places(pixels(tmp_path / "c.png")[:, LEFT], curves.BLUE)
    assert columns.max() < 400  # the axis ends at column 480, the curve two thirds of the way


def test_accuracy_axis_ends_at_a_hundred_percent(tmp_path, texts):
    draw_curves([record(1, accuracy=1.0)], tmp_path / "c.png", "run")
    ticks = [float(text) for text in texts[texts.index("accuracy, %") + 1 :] if text.isdigit()]
    assert max(ticks) == 100


def test_accuracy_never_measured_says_so(tmp_path, texts):
    draw_curves([record(e, accuracy=None) for e in (1, 2)], tmp_path / "c.png", "run")
    assert texts.count("not measured yet") == 1


def test_validation_has_its_own_curve_and_labels_keep_apart(tmp_path, monkeypatch):
    rows = {}
    draw_text = ImageDraw.ImageDraw.text

    def text(self, xy, text, *args, **kwargs):
        rows[text] = xy[1] / curves.SCALE
        draw_text(self, xy, text, *args, **kwargs)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", text)
    records = [record(1, accuracy=0.1, val_accuracy=0.1), record(2, accuracy=0.5, val_accuracy=0.499)]
    draw_curves(records, tmp_path / "c.png", "run")
    assert {"test", "validation"} <= set(rows)
    assert rows["49.9%"] - rows["50.0%"] >= 16
    assert len(places(pixels(tmp_path / "c.png"), curves.ORANGE)[0]) > 400


def test_a_thousand_epochs_stay_inside_the_axes(tmp_path):
    rng = np.random.default_rng(3)
    records = [record(e, 2 + math.sin(e), rng.uniform(0, 1)) for e in range(1, 1001)]
    draw_curves(records, tmp_path / "c.png", "run")
    picture = pixels(tmp_path / "c.png")
    for panel, colour in ((LEFT, curves.BLUE), (RIGHT, curves.GREEN)):
        rows, _ = places(picture[:, panel], colour)
        assert rows.min() >= 120
        assert rows.max() <= 428


def test_several_records_an_epoch_are_drawn_against_steps(tmp_path, texts):
    draw_curves([record(1), record(1, step=80), record(2)], tmp_path / "c.png", "run")
    assert "step" in texts
    assert "epoch" not in texts


def test_no_records_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        draw_curves([], tmp_path / "c.png", "run")


def test_failing_write_leaves_the_old_picture_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "c.png"
    draw_curves([record(1)], path, "old")
    old = path.read_bytes()

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(UserError, match="No space"):
        draw_curves([record(1), record(2)], path, "new")
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_picture_is_replaced(tmp_path):
    path = tmp_path / "c.png"
    path.write_bytes(b"old")
    draw_curves([record(1)], path, "new")
    assert pixels(path).shape == (curves.HEIGHT, curves.WIDTH, 3)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 88.7, [0, 20, 40, 60, 80, 100]),
        (0.36, 1.7, [0, 0.5, 1, 1.5, 2]),
        (1, 1000, [0, 200, 400, 600, 800, 1000]),
        (2e-5, 6e-5, [2e-5, 3e-5, 4e-5, 5e-5, 6e-5]),
    ],
)
def test_ticks_are_round_numbers_around_the_data(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)
