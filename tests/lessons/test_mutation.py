"""The tables of wrong answers: how a row is read, and what is refused."""

import pytest

from lessons.mutation import changed, changes, wrong_answers
from tests.lessons.course import LESSONS, every_lesson

RIGHT = "def f(x):\n    y = 2 * x\n    return y\n"


@every_lesson
def test_every_row_can_be_made(lesson):
    for name, answer in wrong_answers(lesson).items():
        assert answer.fault.endswith("."), name
        answer.module()


def test_a_row_of_each_kind():
    attention, convolution, capstone = (wrong_answers(LESSONS[number]) for number in (6, 19, 10))
    patch, functions = attention["root_twice"], attention["bias_gradients_averaged"]
    assert patch.fault.startswith("dk is divided by the root of K although")
    assert len(changes(patch.body)) == 1 and changes(functions.body) == []
    assert functions.module().solution.__name__ == "lessons.06_attention.solution"
    assert convolution["fill_ignored"].file.name == "windows.py"
    assert capstone["gelu_without_its_half"].topic == "gelu"


def test_pieces_are_replaced_or_deleted_one_after_the_other():
    pieces = changes("-     y = 2 * x\n+     y = x\n+     y += 1\n- return y\n+ return -y\n")
    assert changed(RIGHT, pieces) == "def f(x):\n    y = x\n    y += 1\n    return -y\n"
    assert changed(RIGHT, changes("- y = 2 * x\n+\n")) == "def f(x):\n    \n    return y\n"


@pytest.mark.parametrize(("piece", "count"), [("y = 3 * x", 0), ("y", 2)])
def test_a_piece_that_does_not_occur_exactly_once_is_refused(piece, count):
    with pytest.raises(ValueError, match=f"there are {count} places with '"):
        changed(RIGHT, [(piece, "z")])


@pytest.mark.parametrize("text", ["- y = 2 * x\n", "+ y = x\n", "- y\n+ z\n- x\n"])
def test_a_piece_without_what_takes_its_place_is_refused(text):
    with pytest.raises(ValueError, match=r"expected a piece after -, then one after \+"):
        changes(text)
