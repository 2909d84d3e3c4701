"""The lessons keep their promises: exercises are to do, solutions pass, wrong answers are caught."""

import json
import re
import subprocess
import sys

import pytest

from lessons.referee.share import asked_for
from tests.lessons.course import CAPSTONE, LESSONS, NAMES, ROOT


def start(impl, folder, lessons=("lessons",)):
    """Start the checks of some lessons on one implementation."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "pytest", *map(str, lessons), "-p", "no:cacheprovider"]
    command += ["--impl", impl, "--lesson-report", str(report)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True), report


def finish(process, report):
    """The result of every check, and what was printed and returned."""
    printed, _ = process.communicate()
    return json.loads(report.read_text()), printed, process.returncode


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """The unsolved and the solved course, side by side."""
    return {impl: start(impl, tmp_path_factory.mktemp(impl)) for impl in ("exercise", "solution")}


@pytest.fixture(scope="module")
def unsolved(started):
    return finish(*started["exercise"])


@pytest.fixture(scope="module")
def solved(started):
    return finish(*started["solution"])


@pytest.fixture(scope="module")
def mutants(tmp_path_factory):
    """The results of every wrong answer, from two halves of the course side by side."""
    halves = [start("mutants", tmp_path_factory.mktemp("half"), LESSONS[k::2]) for k in (0, 1)]
    return [result for half in halves for result in finish(*half)[0]]


def test_unsolved_exercises_are_to_do_and_not_a_failure(unsolved):
    results, printed, status = unsolved
    assert {result["lesson"] for result in results} == set(NAMES)
    wrong = [r for r in results if (r["state"], r["error"]) != ("to do", "NotImplementedError")]
    assert wrong == []
    assert status == 0, printed
    for name in NAMES:
        assert re.search(rf"{name} +\[ +\]  0 of", printed), f"no line of progress for {name}"


def test_solutions_pass(solved):
    results, printed, status = solved
    assert {result["lesson"] for result in results} == set(NAMES)
    assert [result for result in results if result["state"] != "done"] == []
    assert status == 0, printed


def test_every_wrong_answer_is_caught_by_an_assertion(mutants):
    caught, crashed = set(), []
    for result in mutants:
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
