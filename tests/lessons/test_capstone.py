"""The capstone's checks name the operation in which a planted fault sits, without looking into the file."""

import importlib
from pathlib import Path

import pytest

LESSON = "lessons.10_from_an_empty_file"
MUTANTS = sorted(
    path.stem for path in (Path(__file__).parents[2] / "lessons/10_from_an_empty_file/mutants").glob("*.py")
)
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
    mutant = importlib.import_module(f"{LESSON}.mutants.{name}")
    finding = find(mutant, seed=2)
    if mutant.OPERATION in OUTSIDE:
        assert finding is None
    else:
        assert finding.operation == mutant.OPERATION, str(finding)
