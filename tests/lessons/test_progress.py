"""The report of `pytest lessons/NN_topic`: a fault once, hints that fit, the puzzle apart, known mistakes."""

import functools
import json
import os
import shutil
import subprocess
import sys

import pytest

from lessons.conftest import COMMON, hints_for
from lessons.faults import MOST, Block, blocks
from lessons.referee import Fault
from tests.lessons.course import QUICKER, ROOT

CHECKS = """
import numpy as np
import pytest
from lessons.referee import assert_same, assert_trust

X = np.random.default_rng(0).normal(size=(2, 3))

@pytest.mark.hint("in general", dq="of dq", shape="of a shape", crash="of a crash")
def test_first(impl):
    dq, dk = impl.both(X)
    assert_same(dk, 3 * X, "dk")
    assert_same(dq, 2 * X, "dq")

@pytest.mark.hint("in general", crash="of a crash")
def test_second(impl):
    assert_same(impl.both(X)[0], 2 * X, "dq")

def test_own_check(impl):
    assert_trust(impl.trust_both, right=(1, 1), wrong={"it": (2, 2)})

@pytest.mark.puzzle
def test_riddle(impl):
    assert impl.riddle() == 7
"""
ANSWER = """
def both(x):
    return {both}

def trust_both(forward, backward):
    {trust}

def riddle():
    {riddle}
"""
SOLUTION = """
def both(x):
    twice = 2 * x
    return twice, 3 * x
"""
MISTAKES = '''WRONG = """
? third: The first is divided by three.
- twice = 2 * x
+ twice = x / 3
"""
'''
TO_DO = 'raise NotImplementedError("write it")'


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """A course of one lesson; a function that checks an answer there: what is printed, and the report."""
    folder = tmp_path_factory.mktemp("course")
    lesson = folder / "lessons" / "01_both"
    lesson.mkdir(parents=True)
    for name in ("conftest.py", "faults.py", "mutation.py", "start.py"):
        shutil.copy(ROOT / "lessons" / name, folder / "lessons" / name)
    shutil.copytree(ROOT / "lessons" / "referee", folder / "lessons" / "referee")
    (folder / "tinyvit").symlink_to(ROOT / "tinyvit")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (lesson / "test_lesson.py").write_text(CHECKS)
    (lesson / "solution.py").write_text(SOLUTION)
    (lesson / "mutants.py").write_text(MISTAKES)

    @functools.cache
    def check(both="2 * x, 3 * x", trust=TO_DO, riddle=TO_DO, *options):
        (lesson / "exercise.py").write_text(ANSWER.format(both=both, trust=trust, riddle=riddle))
        command = [sys.executable, "-m", "pytest", "lessons", "-p", "no:cacheprovider", *QUICKER]
        # Under CI pytest repeats every message in a summary, whole: what is printed must not depend on that.
        environment = {
            name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")
        }
        done = subprocess.run(
            [*command, *options, "--lesson-report", "report.json"],
            cwd=folder,
            capture_output=True,
            text=True,
            env=environment,
        )
        return done.stdout, json.loads((folder / "report.json").read_text())

    return check


def test_the_puzzle_and_the_gradient_check_are_counted_apart(checked):
    printed, _ = checked()
    assert "2 of  2 checks, gradient check open, puzzle open" in printed
    printed, report = checked(trust="return forward == 1", riddle="return 7")
    assert "2 of  2 checks, gradient check solved, puzzle solved" in printed
    assert [result["part"] for result in report] == ["main", "main", "gradient check", "puzzle"]
    assert "puzzle wrong" in checked(riddle="return 8")[0]


def test_the_report_names_the_functions_that_a_check_used(checked):
    _, report = checked()
    assert [result["functions"] for result in report] == [["both"], ["both"], ["trust_both"], ["riddle"]]


@pytest.mark.parametrize(
    ("both", "hint", "others"),
    [
        ("x + 1, 3 * x", "hint: of dq", ["in general", "of a shape"]),
        ("2 * x, x + 1", "hint: in general", ["of dq", "of a shape"]),
        ("2 * x, 3 * x[0]", "hint: of a shape", ["of dq"]),
        ("2 @ x, x", "hint: of a crash", ["in general", "of dq"]),
        ("x.astype('f4'), 3 * x", f"hint: {COMMON['dtype'][1]}", ["in general", "of dq"]),
    ],
)
def test_a_hint_belongs_to_a_fault(checked, both, hint, others):
    printed = " ".join(checked(both)[0].split())
    assert hint in printed
    assert [other for other in others if other in printed] == []


class Check:
    """A check that fails, with its hints."""

    def __init__(self, *hints, **special):
        self.mark = pytest.mark.hint(*hints, **special).mark

    def iter_markers(self, name):
        return [self.mark]


@pytest.mark.parametrize("kind", COMMON)
def test_a_fault_that_is_no_matter_of_values_has_a_hint_of_its_own(kind):
    fault, common = Fault("it is wrong", "dx", kind), [COMMON[kind][1]]
    assert hints_for(Check("the sum runs over the last axis"), fault) == common
    assert hints_for(Check("the sum runs over the last axis", dx="dx is dy times y"), fault) == common
    assert hints_for(Check(), fault) == common
    assert hints_for(Check("in general", **{kind: "in this check"}), fault) == ["in this check"]
    assert hints_for(Check("in general", dx="of dx"), Fault("it is wrong", "dx")) == ["of dx"]
    assert hints_for(Check(), Fault("it is wrong", "dx")) == []


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("inplace", "make new arrays: what you were given belongs to somebody else"),
        ("inplace", "dy * y, not dy *= y"),
        ("dtype", "np.full((D, 1), 1 / D, dtype=x.dtype)"),
        ("dtype", "Python floats as factors leave float32 as it is"),
    ],
)
def test_a_hint_that_is_about_such_a_fault_is_shown(kind, hint):
    assert hints_for(Check(hint), Fault("it is wrong", "y", kind)) == [hint]
    assert hints_for(Check("in general", y=hint), Fault("it is wrong", "y", kind)) == [hint]


def test_a_crash_is_shown_once(checked):
    printed, report = checked("2 @ x, x")
    assert printed.count("ValueError") == 1
    assert "\n    exercise.py, line 3: return 2 @ x, x\n" in printed
    assert "\n2 checks fail for this reason; the first is test_first.\n" in printed
    assert "0 of  2 checks, 2 wrong" in printed
    assert [result["state"] for result in report[:2]] == ["wrong", "wrong"]


@pytest.mark.parametrize(
    ("both", "count"),
    [
        ("x / 3.1, 3 * x", "2 checks fail for this reason; the first is test_first."),
        ("x * x + 1, 3 * x + 5", "1 check fails for this reason, and perhaps 1 more: test_first."),
    ],
)
def test_a_fault_is_one_block_without_ids_and_summaries(checked, both, count):
    printed, _ = checked(both)
    assert len(printed.splitlines()) <= 12
    assert printed.count("checks fail") + printed.count("check fails") == 1
    assert f"\n{count}\n" in printed
    assert [
        word for word in ("test_lesson.py", "[]", "===", "FAILED", "test_second") if word in printed
    ] == []


def test_faults_of_two_functions_are_two_blocks(checked):
    printed, _ = checked("x, 3 * x", "return forward == 1", "return 8")
    assert printed.count("for this reason") == 2


def test_what_a_wrong_answer_prints_is_in_its_block(checked):
    printed, _ = checked("print(f'x has {x.size}') or x / 3, 3 * x")
    assert printed.count("x has 6") == 1
    assert "\n    printed: x has 6\n" in printed


def test_pytests_own_report_is_an_option(checked):
    printed, _ = checked("x / 3.1, 3 * x", TO_DO, TO_DO, "--tb=long")
    assert ">       assert_same(impl.both(X)[0], 2 * X" in printed
    assert "FAILED lessons/01_both/test_lesson.py::test_second" in printed
    assert "for this reason" not in printed


def test_a_file_that_is_not_python_is_said_to_be_so_once_with_its_line(checked):
    printed, _ = checked("2 x, 3 * x")
    assert printed.count("exercise.py cannot be read as Python: invalid syntax") == 1
    assert "\n    exercise.py, line 3: return 2 x, 3 * x\n" in printed
    assert "Traceback" not in printed
    assert len(printed.splitlines()) < 10


def test_a_known_mistake_is_named(checked):
    printed, report = checked("x / 3, 3 * x")
    assert "\nThe first is divided by three.\n    dq is 6 times" in printed
    assert [result["known"] for result in report[:2]] == [["The first is divided by three."]] * 2
    assert "hint" not in printed  # it may be about another fault
    assert "divided" not in checked("x / 3.1, 3 * x")[0]


def test_what_an_edit_mends_is_named(checked):
    block = "\nThe factor 2 is missing in the first result.\n    exercise.py, line 3: return x, 3 * x\n    dq"
    assert block in checked("x, 3 * x")[0]


WRONG_RESULT = {
    **dict.fromkeys(("where", "function"), ""),
    **{"lesson": "01_both", "part": "main", "state": "wrong", "check": "test_it", "kind": "values"},
    **{"text": "dx is wrong", "known": [], "hints": [], "asks": [], "error": "AssertionError"},
}


def test_a_block_has_at_most_twelve_lines_and_says_that_some_are_left_out():
    text = "\n".join(["it cannot be compiled", *(f"error {number}" for number in range(30))])
    block = Block({**WRONG_RESULT, "text": text, "hints": ["look at the first"], "printed": "here\n" * 9})
    lines = block.text().splitlines()
    assert len(lines) == MOST
    assert lines[1] == "    error 0" and lines[-3:-1] == ["    ...", "    hint: look at the first"]


def test_colours_are_for_the_sentence_and_the_numbers():
    text = "dx is wrong\nmost of all at (1,)"
    block = Block({**WRONG_RESULT, "text": text, "where": "exercise.py, line 3: dx = dy"})
    lines = block.text(colour=True).splitlines()
    assert lines[:2] == ["\x1b[1mdx is wrong\x1b[0m", "    exercise.py, line 3: dx = dy"]
    assert lines[2] == "\x1b[2m    most of all at (1,)\x1b[0m"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"text": "dx is wrong at (0, 1): expected -1.5, got 2e-05"}, {}, [(2, 0)]),
        ({"text": "dx is 4 times too large"}, {}, [(1, 1)]),
        ({"function": "g"}, {}, [(1, 0), (1, 0)]),
        ({"function": "g", "asks": ["f", "g"]}, {}, [(1, 1)]),
        ({"function": "g", "asks": ["f", "g"], "where": "exercise.py, line 3: x @ y"}, {}, [(1, 0), (1, 0)]),
        ({"function": "g", "known": ["The sign is wrong."]}, {}, [(1, 0), (1, 0)]),
        (
            {"known": ["A 2 is missing; see line 9: x"]},
            {"known": ["A 2 is missing; see line 8: y"]},
            [(2, 0)],
        ),
        ({"lesson": "02_other"}, {}, [(1, 0), (1, 0)]),
        ({"state": "done"}, {}, [(1, 0)]),
    ],
)
def test_checks_fail_for_one_reason(one, other, expected):
    first = {**WRONG_RESULT, "function": "f", "text": "dx is wrong at (1, 3): expected 1, got -2", **other}
    assert [(block.alike, block.perhaps) for block in blocks([first, {**first, **one}])] == expected


def test_a_named_fault_leads_a_block():
    first = {**WRONG_RESULT, "function": "f"}
    named = {**first, "known": ["A 2 is missing."]}
    (block,) = blocks([first, named, named])
    assert (block.lead, block.alike, block.perhaps) == (named, 2, 1)


def test_a_reason_that_was_seen_counts_more_than_a_function():
    first = {**WRONG_RESULT, "function": "f"}
    named = {**first, "function": "g", "known": ["A 2 is missing."]}
    found = blocks([first, named, {**named, "function": "f"}])
    assert [(block.alike, block.perhaps) for block in found] == [(1, 0), (2, 0)]
