"""The lessons keep their promises: exercises are to do, solutions pass, wrong answers are caught."""

import json
import re
import subprocess
import sys

import pytest

from lessons.mutation import wrong_answers
from lessons.referee.share import asked_for
from tests.lessons.course import CAPSTONE, LESSONS, NAMES, QUICKER, ROOT, can_run


def course_on(impl, folder):
    """The result of every check of the course on an implementation, what was printed, the status."""
    report = folder / "report.json"
    command = ["-m", "pytest", "lessons", "-p", "no:cacheprovider", *QUICKER, "--impl", impl]
    # Nobody reads thousands of tracebacks, and they take most of the time.
    command += ["--tb=no", "--lesson-report", str(report)]
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert report.exists(), done.stdout
    return json.loads(report.read_text("utf-8")), done.stdout, done.returncode


@pytest.fixture(scope="module")
def unsolved(tmp_path_factory):
    return course_on("exercise", tmp_path_factory.mktemp("unsolved"))


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return course_on("solution", tmp_path_factory.mktemp("solved"))


@pytest.fixture(scope="module")
def mutants(tmp_path_factory):
    """The results of every wrong answer."""
    return course_on("mutants", tmp_path_factory.mktemp("mutants"))[0]


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
    found, whole = {result["lesson"] for result in results}, {name for name in NAMES if can_run(name)}
    assert whole <= found <= whole | {"29_flash_attention"}  # half of which needs no compiler
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
    able = [lesson for lesson in LESSONS if can_run(lesson.name)]
    present = {(lesson.name, name) for lesson in able for name in wrong_answers(lesson)}
    assert present - caught == set()


def test_no_check_takes_a_function_that_the_exercise_does_not_ask_for(solved):
    for result in solved[0]:
        if result["lesson"] == CAPSTONE:
            continue  # its functions are named by its specification
        asked = set(asked_for(ROOT / "lessons" / result["lesson"]))
        assert set(result["functions"]) <= asked, result["check"]


def test_every_function_of_an_exercise_is_checked(solved):
    used = {(result["lesson"], name) for result in solved[0] for name in result["functions"]}
    asked = {(lesson.name, name) for lesson in LESSONS if can_run(lesson.name) for name in asked_for(lesson)}
    assert asked - used == set()
