"""Plots: values lie where their numbers say, ticks are round, labels keep apart."""

import pytest

from tinyvit.insight.pictures.axes import (
    Axes,
    kept_apart,
    legend_rows,
    legend_width,
    nice_ticks,
    tick_labels,
    whole_ticks,
)
from tinyvit.insight.pictures.sheet import Sheet

BOX = (50, 20, 250, 120)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 88.7, [0, 20, 40, 60, 80, 100]),
        (0.36, 1.7, [0, 0.5, 1, 1.5, 2]),
        (1, 1000, [0, 200, 400, 600, 800, 1000]),
        (2e-5, 6e-5, [2e-5, 3e-5, 4e-5, 5e-5, 6e-5]),
        (-0.7, 0.9, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_ticks_are_round_numbers_around_the_data(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("ticks", "labels"),
    [
        ([0, 0.5, 1], ["0.0", "0.5", "1.0"]),
        ([0, 20, 40], ["0", "20", "40"]),
        ([1000, 2000], ["1,000", "2,000"]),
        ([0, 1e7, 2e7], ["0", "1e+07", "2e+07"]),
        ([2e-5, 3e-5], ["0.00002", "0.00003"]),
        ([7], ["7"]),
    ],
)
def test_tick_labels_have_the_digits_that_tell_neighbours_apart(ticks, labels):
    assert tick_labels(ticks) == labels


def test_an_axis_that_counts_has_whole_numbers_inside_its_range():
    assert whole_ticks(1, 3) == [1, 2, 3]
    assert whole_ticks(1, 12) == [2, 4, 6, 8, 10, 12]
    assert whole_ticks(0.5, 1.5) == [1]


def test_values_lie_in_proportion():
    axes = Axes(Sheet(300, 150), BOX, (0, 10), (-1, 1))
    assert axes.place(0, -1) == (50, 120)
    assert axes.place(10, 1) == (250, 20)
    assert axes.place(5, 0.5) == (150, 45)


def test_equal_ratios_are_equally_long_on_a_logarithmic_axis():
    axes = Axes(Sheet(300, 150), BOX, (1, 100), (0.01, 100), "xy")
    assert axes.place(10, 1) == pytest.approx((150, 70))
    axes = Axes(Sheet(300, 150), BOX, (0, 100), (0.01, 100), "y")
    assert axes.place(10, 10) == pytest.approx((70, 45))


def test_numbers_are_next_to_their_ticks(drawn):
    axes = Axes(Sheet(300, 170), BOX, (0, 10), (0, 4))
    axes.x_ticks((0, 5, 10))
    axes.y_ticks((0, 2, 4))
    axes.x_name("epoch")
    axes.y_name("loss")
    middles = {text: ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) for text, box in drawn.texts}
    assert middles["5"][0] == pytest.approx(150, abs=1.5)
    assert middles["2"][1] == pytest.approx(70, abs=2.5)
    drawn.assert_nothing_overlaps()


@pytest.mark.parametrize(
    ("rows", "placed"),
    [
        ([10, 50, 90], [10, 50, 90]),
        ([50, 52, 51], [50, 70, 60]),
        ([99, 98, 97], [100, 90, 80]),
        ([-5, 105], [0, 100]),
        ([3, 3], [3, 13]),
        ([], []),
    ],
)
def test_rows_are_kept_apart_in_their_order(rows, placed):
    assert kept_apart(rows, 10, 0, 100) == placed


def test_more_rows_than_there_is_room_for_are_still_apart():
    placed = kept_apart([50] * 20, 10, 0, 100)
    assert sorted(placed) == [100 - 10 * i for i in reversed(range(20))]


def test_labels_at_the_ends_of_curves_keep_apart(drawn):
    axes = Axes(Sheet(400, 150), BOX, (0, 1), (0, 1))
    axes.label_ends([(1, y, f"curve {y}", "#000000") for y in (0.5, 0.51, 0.0, 0.01, 1.0)])
    drawn.assert_nothing_overlaps()


def test_a_legend_breaks_where_it_would_grow_too_wide():
    names = ["a", "a much longer name", "b", "c"]
    width = legend_width(names[0], 14) + legend_width(names[1], 14)
    assert legend_rows(names, width, 14) == [[0, 1], [2, 3]]
    assert legend_rows(names, 10, 14) == [[0], [1], [2], [3]]
    assert legend_rows(names, 9999, 14) == [[0, 1, 2, 3]]
