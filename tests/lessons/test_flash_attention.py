"""Lesson 29: the first sentence of a message names the slip, and nothing right is accused of one."""

import importlib
import itertools
import math
import types

import numpy as np
import pytest

from lessons.mutation import wrong_answers
from lessons.referee import Fault, calls
from tests.lessons.course import LESSONS, can_run

LESSON = next(lesson for lesson in LESSONS if lesson.name == "29_flash_attention")
checks = importlib.import_module(f"lessons.{LESSON.name}.test_lesson")
slips = importlib.import_module(f"lessons.{LESSON.name}.slips")
solution = importlib.import_module(f"lessons.{LESSON.name}.solution")
WRONG = wrong_answers(LESSON)
needs_compiler = pytest.mark.skipif(not can_run(LESSON.name), reason="there is no C++ compiler")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a wrong answer may divide by zero


def first_sentence(answer, of_the_kernel=False):
    """The first complaint about an answer, by the checks of the kernel or those in NumPy; "" if it passes."""
    for name, check in vars(checks).items():
        if not name.startswith("test_") or ("the_kernel" in name) != of_the_kernel:
            continue
        marks = [mark for mark in check.pytestmark if mark.name == "parametrize"]
        for values in itertools.product(*(mark.args[1] for mark in marks)):
            calls.RECENT.clear()
            try:
                check(calls.Watched(answer), **dict(zip((m.args[0] for m in marks), values, strict=True)))
            except Fault as fault:
                return str(fault).split("\n")[0]
    return ""


SAID = {
    "mix_not_rescaled": "o is what comes out if the outputs so far are not made smaller",
    "sum_not_rescaled": "o is what comes out if the sum so far is not made smaller",
    "nothing_rescaled": "o is what comes out if neither the sum nor the outputs so far are made smaller",
    "softmax_of_each_tile": "o is what comes out if each tile has a softmax of its own",
    "only_the_last_tile": "o is what comes out if only the last tile counts",
    "last_tile_left_out": "o is what comes out if the last tile, which is smaller, is left out",
    "padded_with_zeros": "o is what comes out if 13 keys that do not exist count with a score of 0",
    "largest_of_the_tile": "o is not finite: the largest has fallen",
    "largest_begins_at_zero": "o is not finite: the largest begins above all scores",
    "no_largest": "o is not finite: exp(5,000) is infinite",
    "not_divided": "o is what comes out if the outputs are not divided by the sum",
    "log_of_the_sum_alone": "log_sums are what comes out if the largest score is not added",
    "root_forgotten": "o is what comes out if the scores are not divided by the root of K",
    "whole_rows": "flash_attention held ",
    "d_left_out": "is what comes out if D is left out",
    "d_of_a_tile": "is what comes out if D is the row sum of dA * A over this tile alone",
    "softmax_of_each_tile_in_backward": "is what comes out if each tile of A is divided by its own sum",
    "dq_overwritten": "dq is what comes out if every tile of keys writes over dq",
    "dk_overwritten": "dk is what comes out if every tile of queries writes over dk",
    "dv_overwritten": "dv is what comes out if every tile of queries writes over dv",
    "root_forgotten_in_backward": "that is the square root of 3",
    "all_of_a_at_once": "flash_attention_backward held ",
    "parts_count_alike": "o is what comes out if the mean of the parts is taken",
    "parts_by_their_logs": "o is what comes out if a part counts as much as the log of its sum",
    "parts_without_a_largest": "log_sums are not finite: exp(log_sums) is infinite",
}
SAID_OF_A_KERNEL = {
    "kernel_loads_too_early": "with no barrier between them",
    "kernel_threads_leave": "waits at __syncthreads",
    "kernel_beyond_the_last_key": "nearest is k, at its byte",
    "kernel_beyond_the_last_query": "nearest is q, at its byte",
    "kernel_places_unwritten": "shared memory that nobody has written",
    "kernel_query_of_the_thread": "of another block",
    "kernel_zeros_count": "o is what comes out if 11 keys that do not exist count with a score of 0",
    "kernel_mix_not_rescaled": "o is what comes out if the outputs so far are not made smaller",
    "kernel_sum_not_rescaled": "o is what comes out if the sum so far is not made smaller",
    "kernel_largest_begins_at_zero": "o is not finite: the largest begins above all scores",
    "kernel_log_of_the_sum_alone": "log_sums are what comes out if the largest score is not added",
    "kernel_without_shared_memory": "the kernel reads ",
}


@pytest.mark.parametrize("name", SAID)
def test_the_first_sentence_names_the_slip(name):
    assert SAID[name] in first_sentence(WRONG[name].module())


@needs_compiler
@pytest.mark.parametrize("name", SAID_OF_A_KERNEL)
def test_the_first_sentence_names_the_slip_of_a_kernel(name):
    assert SAID_OF_A_KERNEL[name] in first_sentence(WRONG[name].module(), of_the_kernel=True)


# Right answers, written in other ways.


def normalised_at_every_tile(q, k, v, tile):
    """The outputs are divided after every tile, and weighted by log-sums."""
    o, log_sums = np.zeros_like(v), np.full(len(q), -np.inf, q.dtype)
    for a, b in itertools.product(range(0, len(q), tile), repeat=2):
        rows, columns = slice(a, a + tile), slice(b, b + tile)
        mixed, own = slips.whole(q[rows], k[columns], v[columns])
        now = np.logaddexp(log_sums[rows], own)
        before, new = np.exp(log_sums[rows] - now)[:, None], np.exp(own - now)[:, None]
        o[rows], log_sums[rows] = o[rows] * before + mixed * new, now
    return o, log_sums


def keys_outside(dO, q, k, v, o, log_sums, tile):
    """For each tile of keys all queries, and D for all rows at the start."""
    scale, D = 1 / math.sqrt(q.shape[1]), np.einsum("nk,nk->n", dO, o)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for b, a in itertools.product(range(0, len(q), tile), repeat=2):
        rows, columns = slice(a, a + tile), slice(b, b + tile)
        A = np.exp(scale * (q[rows] @ k[columns].T) - log_sums[rows][:, None])
        dS = A * (dO[rows] @ v[columns].T - D[rows][:, None])
        dq[rows] += scale * (dS @ k[columns])
        dk[columns] += scale * (dS.T @ q[rows])
        dv[columns] += A.T @ dO[rows]
    return [dq, dk, dv]


def changed_kernel(*changes):
    """The solution's kernel with some pieces of its text exchanged."""
    text = solution.flash_attention_kernel()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return lambda: text


BARRIERS = (  # the second at the start of the next round
    ("        __syncthreads();  // all are done with the tile\n", ""),
    (
        "    for (int first = 0; first < N; first += TILE) {\n",
        "    for (int first = 0; first < N; first += TILE) {\n        __syncthreads();\n",
    ),
)
SCALED_LATER = (
    ("q[query * K + i] / sqrtf(K)", "q[query * K + i]"),
    ("? score : -1e30f", "? score / sqrtf(K) : -3e38f"),
    ("float largest = -1e30f", "float largest = -3e38f"),
)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("flash_attention", normalised_at_every_tile),
        ("flash_attention_backward", keys_outside),
        pytest.param("flash_attention_kernel", changed_kernel(*BARRIERS), marks=needs_compiler),
        pytest.param("flash_attention_kernel", changed_kernel(*SCALED_LATER), marks=needs_compiler),
    ],
    ids=["normalised at every tile", "keys outside", "barriers elsewhere", "scaled later"],
)
def test_nothing_right_is_accused(name, function):
    answer = types.ModuleType("exercise")
    vars(answer).update(vars(solution))
    setattr(answer, name, function)
    assert first_sentence(answer, "kernel" in name) == ""


def test_what_is_not_one_of_the_slips_is_not_called_one():
    q, k, v = np.random.default_rng(0).normal(size=(3, 7, 3))
    o, log_sums = slips.whole(q, k, v)
    with pytest.raises(Fault, match="o is right to"):
        checks.assert_attention(o + 1e-8 * v, log_sums, q, k, v, 3, 1e-12)
    with pytest.raises(Fault) as found:
        checks.assert_attention(o + v, log_sums, q, k, v, 3, 1e-12)
    assert "what comes out if" not in str(found.value)
