"""The capstone's checks name the operation in which a planted fault sits, without looking into the file."""

import importlib
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from lessons.mutation import wrong_answers

LESSON = "lessons.10_from_an_empty_file"
MUTANTS = wrong_answers(Path(__file__).parents[2] / "lessons/10_from_an_empty_file")
# Not part of the forward or backward pass, or wrong for very large scores alone.
OUTSIDE = {"init", "update", "train", "predict", "far scores"}

locate = importlib.import_module(f"{LESSON}.locate")


def find(vit, seed):
    trial = locate.Trial(seed=seed)
    return locate.first_wrong_forward(vit, trial) or locate.first_wrong_gradient(vit, trial)


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_found_in_the_solution(seed):
    assert find(importlib.import_module(f"{LESSON}.solution"), seed) is None


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_found_in_its_operation(name):
    operation = MUTANTS[name].topic
    finding = find(MUTANTS[name].module(), seed=2)
    if operation in OUTSIDE:
        assert finding is None
    else:
        assert finding.operation == operation, str(finding)


@pytest.mark.parametrize(
    ("line", "is_allowed"),
    [
        ("import math, numpy as np, cupy", True),
        ("from tinyvit.data.shapes import make_shapes", True),
        ("from tinyvit import data", True),
        ("from tinyvit.in_one_file import forward", False),
        ("from tinyvit import in_one_file", False),
        ("import tinyvit.ops", False),
        ("import scipy", False),
    ],
)
def test_an_exercise_may_import_numpy_and_the_data_alone(tmp_path, line, is_allowed):
    checks = importlib.import_module(f"{LESSON}.test_lesson")
    answer = tmp_path / "exercise.py"
    answer.write_text(line)
    with nullcontext() if is_allowed else pytest.raises(AssertionError, match=r"only tinyvit\.data is"):
        checks.test_it_stands_on_numpy_alone(SimpleNamespace(init=len), SimpleNamespace(__file__=answer))
