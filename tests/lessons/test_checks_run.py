"""The lessons keep their promises: exercises are to do, solutions pass, wrong answers are caught."""

import json
import re
import subprocess
import sys

import pytest

from lessons.referee.share import asked_for
from tests.lessons.course import CAPSTONE, LESSONS, NAMES, ROOT


def run_lessons(impl, folder):
    """Run all lessons' checks on one implementation; the result of every check, and the run."""
    report = folder / f"{impl}.json"
    command = [sys.executable, "-m", "pytest", "lessons", "-p", "no:cacheprovider"]
    command += ["--impl", impl, "--lesson-report", str(report)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return json.loads(report.read_text()), done


@pytest.fixture(scope="module")
def unsolved(tmp_path_factory):
    return run_lessons("exercise", tmp_path_factory.mktemp("unsolved"))


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return run_lessons("solution", tmp_path_factory.mktemp("solved"))


@pytest.fixture(scope="module")
def mutants(tmp_path_factory):
    return run_lessons("mutants", tmp_path_factory.mktemp("mutants"))


def test_unsolved_exercises_are_to_do_and_not_a_failure(unsolved):
    results, done = unsolved
    assert {result["lesson"] for result in results} == set(NAMES)
    wrong = [r for r in results if (r["state"], r["error"]) != ("to do", "NotImplementedError")]
    assert wrong == []
    assert done.returncode == 0, done.stdout
    for name in NAMES:
        assert re.search(rf"{name} +\[ +\]  0 of", done.stdout), f"no line of progress for {name}"


def test_solutions_pass(solved):
    results, done = solved
    assert {result["lesson"] for result in results} == set(NAMES)
    assert [result for result in results if result["state"] != "done"] == []
    assert done.returncode == 0, done.stdout


def test_every_wrong_answer_is_caught_by_an_assertion(mutants):
    caught, crashed = set(), []
    for result in mutants[0]:
        if result["state"] == "wrong":
            if result["error"] == "AssertionError":
                caught.add((result["lesson"], result["impl"]))
            else:
                crashed.append(result)
    assert crashed == []
    present = {(path.parents[1].name, path.stem) for path in ROOT.glob("lessons/*/mutants/*.py")}
    assert present - caught == set()


def test_no_check_takes_a_function_that_the_exercise_does_not_ask_for(solved):
    for result in solved[0]:
        if result["lesson"] == CAPSTONE:
            continue  # its functions are named by its specification
        asked = set(asked_for(ROOT / "lessons" / result["lesson"]))
        assert set(result["functions"]) <= asked, result["check"]


def test_every_function_of_an_exercise_is_checked(solved):
    used = {(result["lesson"], name) for result in solved[0] for name in result["functions"]}
    asked = {(lesson.name, name) for lesson in LESSONS for name in asked_for(lesson)}
    assert asked - used == set()
