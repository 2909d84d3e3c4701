"""Kernels with every access checked: no race, nothing out of bounds, and the bytes that were predicted."""

from functools import cache

import numpy as np
import pytest

from lessons.cuda_on_cpu import checking, thread_order
from tests.engine.cuda import test_gelu, test_layer_norm
from tests.engine.cuda.examples import EXAMPLES
from tests.engine.cuda.masks import make_mask
from tests.engine.cuda.run import run
from tinyvit.engine.cuda.calls.sums import ColumnSum, add_columns, column_jobs
from tinyvit.engine.cuda.launch import Buffer


def forward():
    mask, keys, _ = make_mask(2, 3, 900, 0.2, 0.4)
    values = test_layer_norm.forward_values(np.random.default_rng(0), "float32", 6, 900, every=2)
    return test_layer_norm.forward("float32", 6, 900, mask, every=2), {**values, "keys": keys}


def backward():
    mask, keys, _ = make_mask(2, 3, 900, 0.2, 0.4)
    values = test_layer_norm.backward_values(np.random.default_rng(1), "float32", 6, 900, skip_every=3)
    launch = test_layer_norm.backward("float32", 6, 900, mask, skip_every=3)
    return launch, {**values, "keys": keys}


def gelu(which):
    rng = np.random.default_rng(2)
    mask, keys, _ = make_mask(2, 5, 264, 0.2, 0.4)
    values = {"h": rng.normal(size=(10, 264)), "bias": rng.normal(size=264), "dg": rng.normal(size=(10, 264))}
    return test_gelu.launches("bfloat16", "tanh", 10, 264, mask)[which], {**values, "keys": keys}


def sums():
    wanted = [ColumnSum(0, 40, 50, 0, 70), ColumnSum(50, 40, 20, 50, 70)]
    jobs, rng = column_jobs(wanted), np.random.default_rng(3)
    buffers = Buffer("jobs", jobs.shape, "int32"), Buffer("partials", (2800,)), Buffer("grads", (70,))
    values = {"jobs": jobs, "partials": rng.normal(size=2800), "grads": rng.normal(size=70)}
    return add_columns(*buffers, wanted), values


CASES = {
    "layer_norm": forward,
    "layer_norm_backward": backward,
    "gelu": lambda: gelu(0),
    "gelu_backward": lambda: gelu(1),
    "sums": sums,
    **EXAMPLES,
}


@cache
def functions(file):
    """The functions of a kernel file that the cases need, to be compiled together."""
    return tuple(dict.fromkeys(launch.function for launch, _ in cases() if launch.file == file))


@cache
def cases():
    return [case() for case in CASES.values()]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_kernel_has_no_fault_and_moves_the_bytes_predicted(case):
    launch, given = case()
    with checking(seed=5) as checks:
        run(launch, given, functions(launch.file))
    assert checks.launches[0].bytes_moved == launch.bytes_moved


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_order_of_threads_does_not_change_a_bit(case):
    launch, given = case()
    results = []
    for seed in (1, 2):
        with thread_order(seed):
            results.append(run(launch, given, functions(launch.file)))
    for name, result in results[0].items():
        np.testing.assert_array_equal(result, results[1][name])
