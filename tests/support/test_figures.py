"""Durations, rates, losses and percentages: right, and of one width where they stand in columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyvit.support.figures import counted, duration, figure, img_per_second, percent


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0:00"),
        (41, "0:41"),
        (59.7, "1:00"),
        (725, "12:05"),
        (3599.6, "1:00:00"),
        (3729, "1:02:09"),
        (90_000, "25:00:00"),
        (-3, "0:00"),
        (None, "-:--"),
        (float("inf"), "-:--"),
        (float("nan"), "-:--"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(9.4, "9.4 img/s"), (9.96, "10 img/s"), (812.4, "812 img/s"), (12_345, "12,345 img/s")],
)
def test_rates(rate, text):
    assert img_per_second(rate) == text


@given(st.floats(min_value=0, max_value=1e90) | st.just(float("nan")) | st.just(float("inf")))
def test_figure_is_five_columns_wide_and_right(value):
    text = figure(value)
    assert len(text) == 5
    assert float(text) == pytest.approx(value, rel=0.5, abs=0.0005, nan_ok=True)


@given(st.none() | st.floats(min_value=0, max_value=1))
def test_percent_is_five_columns_wide_and_right(share):
    text = percent(share)
    assert len(text) == 5
    assert (
        text.strip() == "-"
        if share is None
        else float(text.rstrip("%")) == pytest.approx(100 * share, abs=0.051)
    )


def test_one_thing_is_not_several():
    assert [counted(n, "epoch") for n in (0, 1, 2, 1234)] == [
        "0 epochs",
        "1 epoch",
        "2 epochs",
        "1,234 epochs",
    ]
    assert [counted(n, "class", "classes") for n in (1, 2)] == ["1 class", "2 classes"]
