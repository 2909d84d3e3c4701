"""Single edits of an answer: what they find, what is said of it, and that none does any harm."""

import ast

import numpy as np
import pytest

from lessons.referee import Fault, assert_gradients, assert_same
from lessons.referee.edits import edits
from lessons.referee.repair import Answer, repair
from lessons.referee.rerun import failure
from lessons.referee.statics import kept_outside, never_read, never_used
from lessons.start import load

X = np.random.default_rng(0).normal(size=(3, 4)) + 2


def standardise(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 0.1)


def running_sum(x):
    return np.array([x[:i].sum() for i in range(1, len(x) + 1)])


def check_standardise(impl):
    assert_same(impl.standardise(X), standardise(X), "y")


def check_small(impl):
    assert_same(impl.standardise(X[:1].astype(np.float32)), standardise(X[:1].astype(np.float32)), "y", 1e-5)


def check_running_sum(impl):
    assert_same(impl.running_sum(X[0].copy()), running_sum(X[0]), "the sums")


CHECKS = {"values": check_standardise, "small": check_small, "sums": check_running_sum}
RIGHT = """import numpy as np

def standardise(x):
    mean = x.mean(axis=-1, keepdims=True)
    c = x - mean
    var = (c ** 2).mean(axis=-1, keepdims=True)
    return c / np.sqrt(var + 0.1)

def running_sum(x):
    sums, total = np.zeros_like(x), 0.0
    for i in range(len(x)):
        total += x[i]
        sums[i] = total
    return sums
"""


def answer(tmp_path, right="", wrong=""):
    path = tmp_path / "exercise.py"
    path.write_text(RIGHT.replace(right, wrong), encoding="utf-8")
    return Answer(load(path))


def found(yours, most=30_000_000):
    """The edit that mends an answer, and the work of finding it."""
    failed = {name: end for name, check in CHECKS.items() if (end := failure(check, yours.module))}
    name, error = next(iter(failed.items()))
    return repair(yours, name, error, CHECKS, ["standardise" if name != "sums" else "running_sum"], most)


@pytest.mark.parametrize(
    ("right", "wrong", "says", "line"),
    [
        ("c = x - mean", "c = x + mean", "the term mean has the wrong sign in c", 5),
        ("c ** 2", "c", "c is not squared in var", 6),
        ("c / np.sqrt(var + 0.1)", "c / (var + 0.1)", "by its root", 7),
        (
            "c / np.sqrt(var + 0.1)",
            "x / np.sqrt(var + 0.1)",
            "the result is made with x where another variable",
            7,
        ),
        ("np.sqrt(var + 0.1)", "(np.sqrt(var) + 0.1)", "0.1 stands outside the root in the result", 7),
        (
            "(c ** 2).mean(axis=-1",
            "(c ** 2).mean(axis=0",
            "the mean of c ** 2 in var is taken over the wrong axis",
            6,
        ),
        ("axis=-1", "axis=0", "taken over the wrong axis, and so in 1 more place", 4),
        (
            "x.mean(axis=-1, keepdims=True)",
            "x.mean(axis=-1)",
            "keepdims is missing with the mean of x in mean",
            4,
        ),
        (").mean(", ").sum(", "var takes the sum of c ** 2, and not the mean", 6),
        ("var + 0.1", "var + 0.01", "the number 0.01 is not the right one", 7),
        ("total += x[i]", "total = x[i]", "total is written over where it has to be added up", 12),
        ("x[i]", "x[i - 1]", "an index of x is not the right one in total", 12),
        ("range(len(x))", "range(len(x) - 1)", "the loop ends one too early", 11),
        ("    return sums", "        return sums", "the return stands inside the loop", 11),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, right, wrong, says, line):
    repaired, _ = found(answer(tmp_path, right, wrong))
    assert repaired and says in repaired.says
    assert repaired.line == line


def test_what_is_to_be_written_is_not_told(tmp_path):
    repaired, _ = found(answer(tmp_path, "c / np.sqrt(var + 0.1)", "x / np.sqrt(var + 0.1)"))
    assert " c" not in repaired.says


def test_a_dtype_that_is_not_given_is_named(tmp_path):
    yours = answer(tmp_path, "c = x - mean", "c = np.zeros(x.shape)\n    c += x - mean")
    repaired, _ = found(yours)
    assert repaired.says == "zeros is given no dtype for c, and makes float64"


def test_the_work_is_the_same_each_time_and_bounded(tmp_path):
    twice = [found(answer(tmp_path, "c = x - mean", "c = x.copy()")) for _ in range(2)]
    assert twice[0] == twice[1]
    repaired, work = found(answer(tmp_path, "c = x - mean", "c = x.copy()"), 6000)
    assert repaired is None
    assert work < 12000


def test_an_edit_with_which_a_loop_never_ends_is_given_up(tmp_path):
    (tmp_path / "exercise.py").write_text(
        "def count(n):\n    i = 0\n    while i < n:\n        i += 1\n    return 2 * i\n"
    )
    yours = Answer(load(tmp_path / "exercise.py"))

    def check(impl):
        assert_same(impl.count(5), 5, "the count")

    repaired, _ = repair(yours, "it", failure(check, yours.module), {"it": check}, ["count"])
    assert repaired.says == "the factor 2 is one too many in the result"


def test_an_answer_with_a_dataclass_is_mended(tmp_path):
    begin = "from dataclasses import dataclass\n"
    path = tmp_path / "exercise.py"
    text = "@dataclass\nclass Cache:\n    x: float\n\ndef doubled(x):\n    return Cache(x + x + 1).x\n"
    path.write_text(begin + text)
    yours = Answer(load(path))

    def check(impl):
        assert_same(impl.doubled(X), 2 * X, "y")

    repaired = repair(yours, "it", failure(check, yours.module), {"it": check}, ["doubled"])[0]
    assert repaired.says == "the term 1 is one too many in the result"


def test_a_function_that_is_to_do_mends_nothing(tmp_path):
    path = tmp_path / "exercise.py"
    path.write_text("def later(x):\n    raise NotImplementedError\n\ndef doubled(x):\n    return x * x * x\n")
    yours = Answer(load(path))

    def check(impl):
        assert_same(impl.doubled(X), X + np.sin(X), "y")

    assert repair(yours, "it", failure(check, yours.module), {"it": check}, ["doubled"])[0] is None


def test_what_reaches_beyond_the_program_is_not_edited(tmp_path):
    path = tmp_path / "exercise.py"
    path.write_text("def save(text):\n    if not text:\n        open('it', 'w')\n    return text + text\n")
    yours = Answer(load(path))

    def check(impl):
        assert impl.save("a") == "a"

    assert repair(yours, "it", AssertionError(), {"it": check}, ["save"])[0] is None


def test_every_edit_is_taken_back_and_can_be_said(tmp_path):
    tree = answer(tmp_path).trees["standardise"]
    before = ast.unparse(tree)
    for edit in edits(tree):
        assert "{" not in edit.says
        edit.exchange().exchange()
        assert ast.unparse(tree) == before


def test_every_entry_that_is_written_to_can_be_said():
    text = "def f(dy, n):\n    dx = n.copy()\n    for i in n:\n        dx[:, i] = n[i, ...]\n    return dx"
    said = {edit.says for edit in edits(ast.parse(text).body[0])}
    assert "the factor n[:, i] is missing in dx" in said


KEPT = {}


def doubled(x):
    KEPT["x"] = x
    return x * x, None


def doubled_backward(dy, cache):
    return 2 * KEPT["x"] * dy


def flattened(x):
    flattened.shape = x.shape
    return x.reshape(-1), None


@pytest.mark.parametrize(
    ("forward", "backward"),
    [(doubled, doubled_backward), (flattened, lambda dy, cache: dy.reshape(flattened.shape))],
    ids=["in a global", "in an attribute"],
)
def test_a_cache_kept_elsewhere_is_found_by_a_second_forward(forward, backward):
    with pytest.raises(Fault, match="depends on the latest forward") as fault:
        assert_gradients(forward, backward, {"x": X})
    assert fault.value.kind == "kept"


def trees(text):
    return {tree.name: tree for tree in ast.parse(text).body}


def test_what_is_kept_outside_is_named():
    of_global = trees("def f(x):\n    STATE['x'] = x\n    y = {}\n    y['a'] = x")
    assert kept_outside(of_global, ["f"]) == (
        "STATE['x'] is a global variable, which the next forward overwrites",
        2,
    )
    of_function = trees("def f(x):\n    f.x = x")
    assert kept_outside(of_function, ["f"])[0].startswith("f.x is an attribute of f")
    assert kept_outside(trees("def f(x):\n    y = x.copy()\n    y[0] = 1"), ["f"]) == ("", 0)


def test_what_is_never_read_is_named():
    right = ast.parse("def f(x, eps):\n    return x + eps").body[0]
    yours = ast.parse("def f(x, eps):\n    y = x\n    return x").body[0]
    assert never_read(yours, right) == ("the argument eps is never read", 1)
    assert never_used(yours) == ("y is worked out and never used", 2)
    assert never_read(right, right) == never_used(right) == ("", 0)
