"""What a study shows: the picture that suits its question, the columns of its table, and how far a run is."""

import json
import zlib
from pathlib import Path

import pytest

from tinyvit.shell.progress import Progress
from tinyvit.studies import STUDIES, picture
from tinyvit.studies.carry_out import RunProgress
from tinyvit.studies.plan import Plan
from tinyvit.studies.results import Row
from tinyvit.studies.study import SIZES, Comparison, Study, Variant
from tinyvit.studies.writing import as_markdown

VARIANTS = Variant("a", {}, ("one",), 0.5), Variant("b", {}, ("one",), 2.0)
FIGURES = {"parameters": 1, "multiply_adds": 3e6, "images_seen": 9, "seconds": 90.0, "held_out": 0.25}


def rows(*accuracies):
    """The rows of both variants; one has a run for each seed."""
    return [
        Row(
            variant,
            tuple({"seed": s, "accuracy": a, "diverged": False} | FIGURES for s, a in enumerate(found)),
        )
        for variant, found in zip(VARIANTS, accuracies, strict=True)
    ]


def plan(**fields):
    study = Study("Why?", "Because.", lambda *_: VARIANTS, usual=lambda size: {}, **fields)
    return Plan("why", study, "small", "shapes", Path("out"))


COMPARED = {"comparisons": lambda size: (Comparison("salt", "bread", "b", "a"),)}


@pytest.mark.parametrize(
    ("fields", "drawn", "label"),
    [
        ({}, "rows", None),
        ({"x_name": "rate"}, "lines", "1.5"),
        ({"x_name": "share", "percent": True}, "lines", "150 %"),
        ({"x_name": "cost", "measured_x": "multiply_adds"}, "lines", "1.5"),
        ({"x_name": "time", "measured_x": "seconds"}, "lines", "0:02"),
        (COMPARED, "worth", None),
        (COMPARED | {"x_name": "rate"}, "worth", None),
    ],
)
def test_the_picture_is_the_one_that_suits_the_question(monkeypatch, fields, drawn, label):
    calls = []
    for kind in ("rows", "lines", "worth"):
        monkeypatch.setattr(picture, f"draw_{kind}", lambda *args, kind=kind: calls.append((kind, args)))
    picture.draw(plan(**fields), rows([], []))
    assert not calls
    picture.draw(plan(**fields), rows([0.5], [0.75, 0.25]))
    ((kind, (title, subtitle, found, *more, path)),) = calls
    assert (kind, title, subtitle, path) == (
        drawn, "Why?", "shapes, small; dots: 2 seeds", Path("out/picture.png"),
    )  # fmt: skip
    if drawn == "worth":
        assert (found[0].by_seed, found[0].gain) == ([25.0], 0.0)
    else:
        x = [FIGURES[fields["measured_x"]]] * 2 if "measured_x" in fields else [0.5, 2.0]
        assert [(one.name, one.values, one.x) for one in found] == [
            ("a", [0.5], x[0]), ("b", [0.75, 0.25], x[1]),
        ]  # fmt: skip
    if label:
        assert (more[0], more[1](1.5)) == (fields["x_name"], label)


@pytest.mark.parametrize(
    ("number", "text"), [(1e9, "1 G"), (999e6, "999 M"), (3_812_345, "3.81 M"), (1e3, "1 k"), (999, "999")]
)
def test_costs_on_the_axis_have_three_digits(monkeypatch, number, text):
    labels = []
    monkeypatch.setattr(picture, "draw_lines", lambda *args: labels.append(args[-2](number)))
    picture.draw(plan(x_name="cost", measured_x="multiply_adds"), rows([0.5], [0.5]))
    assert labels == [text]


@pytest.mark.parametrize("rounds", [1, 2])
def test_only_a_study_in_rounds_has_a_column_of_what_was_held_out(rounds):
    text = as_markdown(plan(rounds=rounds), 2, rows([0.5], [0.75, 0.25]))
    heading, _, first, _ = [line.split(" | ") for line in text.splitlines() if line.startswith("|")]
    assert len(heading) == len(first)
    held_out = [cell for name, cell in zip(heading, first, strict=True) if name == "held out"]
    assert held_out == (["25.0%"] if rounds == 2 else [])
    assert ("the better half of each round goes on" in text) == (rounds == 2)


def test_a_moving_line_shows_how_far_the_whole_run_is(monkeypatch):
    shown = []
    monkeypatch.setattr(
        Progress, "step", lambda self, epoch, epochs, done, total: shown.append((done, total))
    )
    for epoch, done in ((1, 0), (1, 5), (2, 5), (4, 10)):
        RunProgress("a-0").step(epoch, 4, done, 10)
    assert shown == [(0, 100), (12, 100), (38, 100), (100, 100)]


def test_what_a_study_trains_is_the_same_in_every_version():
    """A study that was begun is not continued with other settings; a change on purpose changes its number."""
    found = {}
    for name, study in STUDIES.items():
        parts = [study.x_name, study.measured_x, study.rounds, study.percent]
        for size in SIZES:
            parts += [study.usual(size), [vars(one) for one in study.comparisons(size)]]
            parts += [
                [vars(one) for one in study.variants(size, dataset)] for dataset in ("shapes", "cifar10")
            ]
        found[name] = zlib.crc32(json.dumps(parts, default=vars, sort_keys=True).encode())
    assert found == {
        "positions": 1_564_652_570,
        "pooling": 2_433_770_418,
        "data": 1_909_357_543,
        "scaling": 1_588_978_869,
        "transfer": 3_452_188_953,
        "unlabelled": 897_065_421,
        "ingredients": 1_237_948_458,
        "time-to-accuracy": 2_677_693_912,
    }
