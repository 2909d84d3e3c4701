"""Every lesson has all its parts."""

import importlib

from lessons.mutation import wrong_answers
from lessons.referee.share import BOUND, asked_for, statements
from tests.lessons.course import LESSONS, every_guided_lesson, every_lesson, text_of


@every_lesson
def test_its_files(lesson):
    for part in ("README.md", "exercise.py", "solution.py", "test_lesson.py", "figures/draw.py"):
        assert (lesson / part).is_file(), f"{lesson.name}/{part} is missing"
    assert len(wrong_answers(lesson)) >= 3
    assert f"pytest lessons/{lesson.name}" in text_of(lesson)


@every_guided_lesson
def test_an_exercise_of_a_few_functions_that_say_what_to_write(lesson):
    exercise = (lesson / "exercise.py").read_text("utf-8")
    names = asked_for(lesson)
    puzzle = exercise.partition("# The puzzle")[2].count("\ndef ")  # a forward and its backward, at most
    checks = sum(name.startswith(("guilty_", "trust_")) for name in names)
    assert 1 <= len(names) - puzzle - checks <= 6, names
    assert checks <= 1, names
    assert 1 <= exercise.count("raise NotImplementedError(") <= len(names)  # some are given
    solution = importlib.import_module(f"lessons.{lesson.name}.solution")
    assert [name for name in names if not hasattr(solution, name)] == []


def test_no_two_lessons_ask_for_functions_of_one_name():
    names = [name for lesson in LESSONS for name in asked_for(lesson)]
    assert sorted(names) == sorted(set(names))


@every_guided_lesson
def test_the_puzzle_comes_last_and_its_checks_are_marked(lesson):
    _, mark, puzzle = (lesson / "exercise.py").read_text("utf-8").partition("# The puzzle")
    checks = (lesson / "test_lesson.py").read_text("utf-8")
    assert mark, "no comment says where the puzzle begins"
    assert puzzle.count("\ndef ") in (1, 2)
    assert "@pytest.mark.puzzle" in checks


@every_lesson
def test_the_text_gives_away_at_most_a_quarter_of_the_answer(lesson):
    found = statements(lesson)
    given = [each.text for each in found if each.renamed]
    assert len(given) <= BOUND * len(found), given
