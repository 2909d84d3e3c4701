"""The display of a study: the picture that suits its question, the columns of its table, a run's progress."""

import json
import zlib
from pathlib import Path

import pytest

from tinyvit import study
from tinyvit.support.shell.progress import Progress
from tinyvit.training.studies.carry_out import RunProgress
from tinyvit.training.studies.paper import SIZES, STUDIES, Study, Variant, percent, short
from tinyvit.training.studies.plan import Plan
from tinyvit.training.studies.results import Row

VARIANTS = Variant("a", {}, ("one",), 0.5), Variant("b", {}, ("one",), 2.0)
FIGURES = {"parameters": 1, "multiply_adds": 3e6, "images_seen": 9, "seconds": 90.0}


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


@pytest.mark.parametrize(
    ("fields", "drawn", "label"),
    [
        ({}, "rows", None),
        ({"x_name": "rate"}, "lines", "1.5"),
        ({"x_name": "share", "x_label": percent}, "lines", "150 %"),
        ({"x_name": "cost", "measured_x": "multiply_adds"}, "lines", "1.5"),
    ],
)
def test_the_picture_is_the_one_that_suits_the_question(monkeypatch, fields, drawn, label):
    calls = []
    for kind in ("rows", "lines"):
        monkeypatch.setattr(study, f"draw_{kind}", lambda *args, kind=kind: calls.append((kind, args)))
    study.draw(plan(**fields), rows([], []))
    assert not calls
    study.draw(plan(**fields), rows([0.5], [0.75, 0.25]))
    ((kind, (title, subtitle, found, *more, path)),) = calls
    assert (kind, title, subtitle, path) == (
        drawn, "Why?", "shapes, small; dots: 2 seeds", Path("out/picture.png"),
    )  # fmt: skip
    x = [FIGURES[fields["measured_x"]]] * 2 if "measured_x" in fields else [0.5, 2.0]
    assert [(one.name, one.values, one.x) for one in found] == [("a", [0.5], x[0]), ("b", [0.75, 0.25], x[1])]
    if label:
        assert (more[0], more[1](1.5)) == (fields["x_name"], label)


@pytest.mark.parametrize(
    ("number", "text"), [(1e9, "1 G"), (999e6, "999 M"), (3_812_345, "3.81 M"), (1e3, "1 k"), (999, "999")]
)
def test_costs_on_the_axis_have_three_digits(number, text):
    assert short(number) == text


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
    for name, one in STUDIES.items():
        parts = [one.x_name, one.measured_x]
        for size in SIZES:
            parts.append(one.usual(size))
            parts += [
                [vars(each) for each in one.variants(size, dataset)] for dataset in ("shapes", "cifar10")
            ]
        found[name] = zlib.crc32(json.dumps(parts, default=vars, sort_keys=True).encode())
    assert found == {
        "positions": 847_409_287,
        "pooling": 3_976_358_506,
        "data": 2_235_432_851,
        "scaling": 1_473_795_862,
        "transfer": 1_336_030_354,
        "unlabelled": 3_205_447_821,
    }
