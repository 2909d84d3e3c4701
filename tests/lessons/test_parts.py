"""Every lesson has all its parts."""

import importlib
import re

import pytest

from lessons.referee.share import BOUND, asked_for, statements
from tests.lessons.course import CAPSTONE, LESSONS, text_of

every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
ordinary = pytest.mark.parametrize(
    "lesson", [lesson for lesson in LESSONS if lesson.name != CAPSTONE], ids=lambda lesson: lesson.name
)


@every_lesson
def test_its_files(lesson):
    for part in ("README.md", "exercise.py", "solution.py", "test_lesson.py", "figures/draw.py"):
        assert (lesson / part).is_file(), f"{lesson.name}/{part} is missing"
    assert len(list(lesson.glob("mutants/*.py"))) >= 3
    assert f"pytest lessons/{lesson.name}" in text_of(lesson)


@ordinary
def test_an_exercise_of_few_functions_that_say_what_to_write(lesson):
    """One to four of its own, a gradient check, and a puzzle, which may be a pair of forward and backward."""
    exercise = (lesson / "exercise.py").read_text("utf-8")
    to_do = {
        name: 'raise NotImplementedError("' in body.replace("(\n        ", "(")
        for name, body in functions(exercise)
    }
    main, _, puzzle = exercise.partition("# The puzzle")
    own = [name for name, _ in functions(main) if not name.startswith(("guilty_", "trust_"))]
    assert 1 <= len(own) <= 4, own
    assert len(functions(main)) - len(own) <= 1
    assert len(functions(puzzle)) <= 2
    assert [name for name, _ in functions(main) if not to_do[name]] == []
    solution = importlib.import_module(f"lessons.{lesson.name}.solution")
    assert [name for name in asked_for(lesson) if not hasattr(solution, name)] == []


def functions(source):
    """The top-level functions of a file: name and text of each."""
    return re.findall(r"^def (\w+)(.*?)(?=^\S|\Z)", source, re.M | re.S)


def test_no_two_lessons_ask_for_functions_of_one_name():
    names = [name for lesson in LESSONS for name in asked_for(lesson)]
    assert sorted(names) == sorted(set(names))


@ordinary
def test_the_puzzle_comes_last_and_its_checks_are_marked(lesson):
    _, mark, puzzle = (lesson / "exercise.py").read_text("utf-8").partition("# The puzzle")
    assert mark, "no comment says where the puzzle begins"
    assert functions(puzzle)
    assert "@pytest.mark.puzzle" in (lesson / "test_lesson.py").read_text("utf-8")


@every_lesson
def test_the_text_gives_away_at_most_a_quarter_of_the_answer(lesson):
    found = statements(lesson)
    given = [each.text for each in found if each.renamed]
    assert len(given) <= BOUND * len(found), given
