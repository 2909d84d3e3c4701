"""Single slips in right answers: what is made, what is said of it, and that nothing of it stays behind."""

import ast
import inspect
import sys
import textwrap

import numpy as np
import pytest

from lessons.referee import slips
from lessons.referee.known import load
from lessons.referee.share import asked_for
from tests.lessons.course import GUIDED, ROOT

LAYER_NORM = load(ROOT / "lessons/07_layer_norm/solution.py")
ATTENTION = load(ROOT / "lessons/06_attention/solution.py")


def sentences(solution, name):
    return {says for _, says, _ in slips.slips(solution, name)}


@pytest.mark.parametrize("lesson", GUIDED, ids=[lesson.name for lesson in GUIDED])
def test_slips_of_every_answer_can_be_said_and_leave_it_as_it_was(lesson):
    solution = load(lesson / "solution.py")
    for name in asked_for(lesson):
        said = sentences(solution, name)
        assert [each for each in said if "{" in each or len(each) > 150] == []
        right = getattr(slips.plainly, name, getattr(solution, name))
        tree, every = slips._every_slip(right)
        assert said or not every
        lines = [line for line in ast.unparse(tree).split("\n") if line.strip() != "_lap()"]
        function = ast.parse(textwrap.dedent(inspect.getsource(right))).body[0]
        function.decorator_list = []
        assert "\n".join(lines) == ast.unparse(function)


@pytest.mark.parametrize(
    ("solution", "name", "said"),
    [
        (LAYER_NORM, "layer_norm_backward", "the term n times the mean of g * n is left out of dx"),
        (LAYER_NORM, "layer_norm_backward", "the term with the mean of g has the wrong sign in dx"),
        (LAYER_NORM, "layer_norm_backward", "dweight takes the mean of dy * n, not the sum"),
        (LAYER_NORM, "layer_norm_backward", "dx and dweight are returned in the wrong order"),
        (LAYER_NORM, "layer_norm_backward", "keepdims is missing with the mean of g * n in dx"),
        (LAYER_NORM, "layer_norm", "eps stands outside the root in r, and belongs inside"),
        (LAYER_NORM, "layer_norm", "the square root is left out in r"),
        (LAYER_NORM, "layer_norm", "the cache holds y in the place of n"),
        (LAYER_NORM, "rms_norm_backward", "x is taken whole in head, and only a part of it belongs there"),
        (ATTENTION, "single_head_backward", "the transpose of dS is missing in dk"),
        (ATTENTION, "single_head_backward", "dS is not divided by the square root of K"),
        (ATTENTION, "single_head_backward", "dq is made with q in the place of k"),
        (ATTENTION, "lean_backward", "dk is written over where it has to be added up"),
        (ATTENTION, "attention", "the transpose of mix is missing in joined"),
    ],
)
def test_a_slip_is_among_them(solution, name, said):
    assert said in sentences(solution, name)


def test_a_slip_does_what_it_says():
    x, weight, bias = np.random.default_rng(0).normal(size=(3, 4)), np.arange(1.0, 5), np.ones(4)
    right = LAYER_NORM.layer_norm(x, weight, bias)[0]
    made = {says: module for _, says, module in slips.slips(LAYER_NORM, "layer_norm")}
    without = made["the term bias is left out of y"]
    np.testing.assert_allclose(without.layer_norm(x, weight, bias)[0], right - 1)
    np.testing.assert_array_equal(LAYER_NORM.layer_norm(x, weight, bias)[0], right)


def test_the_likeliest_and_the_outermost_come_first():
    said = [says for _, says, _ in slips.slips(LAYER_NORM, "layer_norm_backward")]
    term = said.index("the term n times the mean of g * n is left out of dx")
    assert (
        term < said.index("the factor g is missing in dx") < said.index("g is made with n in the place of dy")
    )


def halvings(x):
    """How often x can be halved until it is at most 1."""
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return count


def test_a_loop_that_would_never_end_is_ended():
    made = {says: module for _, says, module in slips.slips(sys.modules[__name__], "halvings")}
    with pytest.raises(StopIteration):
        made["the step that sets x to x / 2 is left out"].halvings(8)
    assert made["x is divided by 2 twice"].halvings(8) == 2
