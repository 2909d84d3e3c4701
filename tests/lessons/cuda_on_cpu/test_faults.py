"""Each fault is found, and the message says where; the same kernels without the fault pass."""

import re

import numpy as np
import pytest

from lessons.cuda_on_cpu import LaunchError, RawModule, checking, thread_order
from tests.lessons.cuda_on_cpu.faulty import FAULTY, line_of


@pytest.fixture(scope="module")
def faulty():
    return RawModule(code=FAULTY, path="faulty.cu")


def launch(module, kernel, threads=64, grid=1, shared_mem=0):
    """Give a kernel 64 numbers to read, and 64 for each block to write."""
    x, y = np.arange(64, dtype=np.float32), np.zeros(64 * grid, np.float32)
    args = (x, y, None) if kernel == "null_pointer" else (x, y)
    module.get_function(kernel)((grid,), (threads,), args, shared_mem=shared_mem)
    return x, y


FOUND = [
    ("no_barrier", {}, r"shared memory that nobody has written|with no barrier between them"),
    ("no_barrier_before_writing_again", {}, r"byte \d+ of kept in shared memory .* no barrier"),
    ("no_syncwarp", {"threads": 32}, r"nobody has written|no barrier between them"),
    ("syncwarp_between_warps", {}, r"nobody has written|no barrier between them"),
    ("syncwarp_of_half", {"threads": 32}, r"nobody has written|no barrier between them"),
    ("same_place", {}, r"writes number \d+ of argument 1 .* of the same block writes .* no barrier"),
    ("blocks_same_place", {"grid": 3}, r"writes number 0 of argument 1 .* of another block"),
    ("reads_beyond", {}, r"thread \(63, 0, 0\): reads 4 bytes outside .* argument 0, .* number 64 of 64"),
    ("reads_before", {}, r"thread \(0, 0, 0\): reads 4 bytes outside .* argument 0, .* number -1 of 64"),
    ("writes_beyond", {}, r"thread \(5, 0, 0\): writes 4 bytes outside .* argument 1, .* number 65 of 64"),
    ("null_pointer", {}, r"writes through a null pointer"),
    ("beyond_shared", {}, r"writes 4 bytes of shared memory, at byte 256 of kept, which has 256"),
    ("beyond_dynamic", {"shared_mem": 252}, r"thread \(63, 0, 0\): writes .* at byte 252 .* which has 252"),
    ("unwritten", {}, r"thread \(\d*[048], 0, 0\): reads shared memory that nobody has written"),
    ("written_by_block_0", {"grid": 2}, r"block \(1, 0, 0\), .*nobody has written in this block"),
    ("not_aligned", {"threads": 8}, r"0x\w+, which is not a multiple of 16, as a pointer to .*float4"),
]


@pytest.mark.parametrize("kernel, how, message", FOUND, ids=[kernel for kernel, *_ in FOUND])
def test_a_fault_is_found_with_its_line(faulty, kernel, how, message):
    with checking(seed=5), pytest.raises(LaunchError, match=message) as caught:
        launch(faulty, kernel, **how)
    assert re.match(rf"{kernel}, block \(\d, 0, 0\), thread \(\d+, 0, 0\): ", str(caught.value))
    assert f"faulty.cu:{line_of(kernel)})" in str(caught.value)
    assert "seed 5" in str(caught.value)


@pytest.mark.parametrize("seed", range(5))
def test_kernels_without_a_fault_pass(faulty, seed):
    with checking(seed):
        x, y = launch(faulty, "with_barrier")
        np.testing.assert_array_equal(y, x[::-1])
        x, y = launch(faulty, "with_syncwarp")
        np.testing.assert_array_equal(y, x.reshape(2, 32)[:, ::-1].ravel())
        x, y = launch(faulty, "beyond_dynamic", shared_mem=256)
        np.testing.assert_array_equal(y, x)


def test_an_atomic_and_a_plain_write_race(faulty):
    counts = np.zeros(1, np.int32)
    with checking(), pytest.raises(LaunchError, match=r"no barrier between.*seed 0"):
        faulty.get_function("atomic_and_plain")((1,), (32,), (counts,))


STUCK = [
    ("returns_before_barrier", 64, 40, r"__syncthreads, faulty.cu:LINE"),
    ("barrier_in_branch", 64, 40, r"waits at another barrier"),
    ("barrier_against_shuffle", 32, 10, r"nobody can go on.*__syncthreads, faulty.cu:LINE.*a shuffle, "),
    ("shuffle_misses_returned", 32, 10, r"shuffle, faulty.cu:LINE.*(has returned|returns|this thread)"),
    ("not_in_its_mask", 32, 10, r"shuffle, faulty.cu:LINE.*leaves out its own lane"),
    ("asks_outside_its_mask", 32, 10, r"faulty.cu:LINE lane \d+ asks for the value of lane 31"),
    ("two_kinds_of_meeting", 32, 10, r"All lanes of a mask must call the same"),
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kernel, threads, count, message", STUCK, ids=[kernel for kernel, *_ in STUCK])
def test_who_waits_for_nobody_is_reported(faulty, kernel, threads, count, message, seed):
    args = (np.int32(count), np.zeros(32, np.int32))
    args = args[:1] if "barrier" in kernel else args
    line = str(line_of(kernel)) if "LINE" in message else ""
    with thread_order(seed), pytest.raises(LaunchError, match=message.replace("LINE", line)):
        faulty.get_function(kernel)((1,), (threads,), args)


def test_without_checks_a_missing_barrier_shows_as_nan_or_differs_with_the_order(faulty):
    with thread_order(3):
        x, y = launch(faulty, "no_barrier")
    assert not np.array_equal(y, x[::-1])
    assert np.isnan(y).any()  # what nobody had written yet


def test_the_same_seed_gives_the_same_order(faulty):
    results = []
    for seed in (1, 1, 2):
        with thread_order(seed):
            results.append(launch(faulty, "same_place")[1])
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_without_checks_a_wild_pointer_ends_the_launch_and_not_python(faulty):
    with pytest.raises(LaunchError, match=r"null_pointer, .*touches memory that it was not given"):
        launch(faulty, "null_pointer")
    x, y = launch(faulty, "with_syncwarp")  # and the next launch is as if nothing had been
    np.testing.assert_array_equal(y, x.reshape(2, 32)[:, ::-1].ravel())


@pytest.mark.parametrize(
    "body, message", [("5 / n", "divides"), ("(assert(n), 1)", r"assert\(n\).*kernel.cu:2")]
)
def test_arithmetic_that_would_end_python_ends_the_launch(body, message):
    code = f'#include <cassert>\nextern "C" __global__ void k(int n, int* x) {{ x[0] = {body}; }}'
    kernel = RawModule(code=code).get_function("k")
    with pytest.raises(LaunchError, match=message):
        kernel((1,), (1,), (np.int32(0), np.zeros(1, np.int32)))


@pytest.mark.parametrize("count", [100, 128])
def test_bytes_are_counted(faulty, count):
    x, z, y = np.ones(64, np.float32), np.ones(128, np.uint16), np.ones(128, np.float32)
    with checking() as checks:
        faulty.get_function("mixed")((2,), (64,), (x, z, y, np.int32(count)))
    (traffic,) = checks.launches
    assert traffic.bytes_read == count // 2 * 4 + count * 2 + count * 4
    assert traffic.bytes_written == traffic.stores == count * 4
    assert traffic.loads == count * (4 + 2 + 4)  # each number of x is read twice
    assert traffic.bytes_moved == traffic.bytes_read + traffic.bytes_written
    assert (y[:count] == 3).all() and (y[count:] == 1).all()


def test_arrays_that_overlap_are_one(faulty):
    """Read and written in place, by the same thread: that is no race, and writes outside stay outside."""
    memory = np.arange(200, dtype=np.float32)
    z = np.zeros(64, np.uint16)
    with checking():
        faulty.get_function("mixed")((1,), (64,), (memory[100:164], z, memory[132:196], np.int32(1)))
    expected = np.arange(200, dtype=np.float32)
    expected[132] += 100
    np.testing.assert_array_equal(memory, expected)
