"""Checks of lesson 28."""

import importlib

import numpy as np
import pytest

from lessons.referee import assert_exposed, assert_same, unwritten
from tinyvit import ops

SUSPECTS = importlib.import_module("lessons.28_kernels.suspects")
running = importlib.import_module("lessons.28_kernels.running")
UNWRITTEN = unwritten.NAN[0]  # which is told from the NaN of 0 / 0
TOLERANCE = 2e-6  # of float32, in sums of a few hundred numbers


def numbers(*shape, seed=0, mean=0.0):
    """Normal random numbers in float32."""
    return np.random.default_rng(seed).normal(mean, 1, shape).astype(np.float32)


def blocks_for(count, size):
    """Number of blocks of this size that have at least `count` threads (or rows) together."""
    return -(-count // size)


# --- one thread for each number

SIZES = {  # rows, D, threads of a block
    "4 x 6 numbers, 8 threads in a block": (4, 6, 8),
    "3 x 5 numbers, 8 threads in a block": (3, 5, 8),
    "7 x 3 numbers, 20 threads in a block": (7, 3, 20),
    "40 x 13 numbers, 256 threads in a block": (40, 13, 256),
}


def run_bias_gelu(impl, x, bias, threads):
    """y, by the kernel."""
    y = np.full_like(x, UNWRITTEN)
    rows, D = x.shape
    kernel = running.kernel(impl, "bias_gelu")
    kernel((blocks_for(rows * D, threads),), (threads,), x=x, bias=bias, y=y, rows=rows, D=D)
    return y


@pytest.mark.hint(
    "number i is in row i / D and column i % D, and the bias belongs to the column; "
    "GELU is z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))) of z = x + bias; and 1 / 2 is 0 in C",
    bounds="x and y: the last block has more threads than there are numbers left; "
    "bias: it has D numbers, not rows * D",
    race="which number is this thread's, counted through all blocks?",
    finite="never written: which thread has this number? Otherwise: is inf / inf, or the like, worked out?",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_bias_gelu(impl, size):
    rows, D, threads = size
    x, bias = numbers(rows, D), numbers(D, seed=1)
    expected = ops.gelu((x + bias).astype(np.float64))[0].astype(np.float32)
    assert_same(run_bias_gelu(impl, x, bias, threads), expected, "y", TOLERANCE)


@pytest.mark.hint(
    "fix the other checks of bias_gelu first; what is left is in GELU",
    finite="tanhf knows its limits; a quotient of exponentials does not, inf / inf is NaN",
)
def test_bias_gelu_far_out(impl):
    x = np.array([[-200.0, -20.0, 0.0, 20.0, 200.0]], np.float32)
    y = run_bias_gelu(impl, x, np.zeros(5, np.float32), 5)
    assert_same(y, np.maximum(x, 0), "y", TOLERANCE)


# --- one warp for each row

ROWS = {  # rows, columns, threads of a block
    "1 row of 32, one warp in a block": (1, 32, 32),
    "3 rows of 5, one warp in a block": (3, 5, 32),
    "5 rows of 40, two warps in a block": (5, 40, 64),
    "6 rows of 100, four warps in a block": (6, 100, 128),
    "9 rows of 192, four warps in a block": (9, 192, 128),
}

WARP_HINTS = {  # for what the emulator finds in kernels of one warp for each row
    "bounds": "columns from D on belong to the next row, or to nobody; so do rows from `rows` on",
    "waiting": "all 32 lanes must come to each shuffle, those without a column too",
    "race": "let one lane of the warp write what belongs to the row; and each warp has a row of its own",
    "finite": "never written: which lane writes this number? Otherwise: is inf - inf, or 0 / 0, worked out?",
}


def run_rows(impl, name, count, threads, /, **arguments):
    """Launch a kernel of one warp for each of `count` rows, and return how many bytes it has loaded."""
    return running.kernel(impl, name)((blocks_for(count, threads // 32),), (threads,), **arguments)


@pytest.mark.hint(
    "the row is the number of the warp, counted through all blocks; after a butterfly of five exchanges "
    "(16, 8, 4, 2, 1) every lane has the sum, and one writes it; a shuffle takes mask, value, distance",
    **WARP_HINTS,
)
@pytest.mark.parametrize("size", ROWS.values(), ids=ROWS)
def test_row_sums(impl, size):
    rows, D, threads = size
    x, sums = numbers(rows, D), np.full(rows, UNWRITTEN)
    run_rows(impl, "row_sums", rows, threads, x=x, sums=sums, rows=rows, D=D)
    assert_same(sums, x.sum(axis=1), "the sums", TOLERANCE)


def cancelling_rows():
    """5 rows of 160 small whole numbers, but for a large one and its negative in two of each lane's columns.

    A lane that adds up its own five columns, in any order, stays below 2^24, up to which float32 has every
    whole number. With other columns several large ones meet, and the small ones lose digits.
    """
    rng = np.random.default_rng(4)
    x = rng.integers(-9, 10, (5, 5, 32))  # row, which of the lane's columns, lane
    large = 2 * rng.integers(2**22, 2**22 + 2**21, (5, 1, 32)) + 1
    pairs = rng.permuted(np.broadcast_to(np.arange(5)[:, None], x.shape), axis=1)[:, :2]
    np.put_along_axis(x, pairs, np.concatenate([large, -large], axis=1), axis=1)
    return x.reshape(5, 160)


@pytest.mark.hint(
    "is test_row_sums passed? Then: lane 0 has columns 0, 32, 64, ..., lane 1 has columns 1, 33, 65, ...; "
    "with other columns, the large numbers of these rows do not cancel in time, and digits are lost",
    **WARP_HINTS,
)
def test_each_lane_adds_up_columns_32_apart(impl):
    x, sums = cancelling_rows(), np.full(5, UNWRITTEN)
    run_rows(impl, "row_sums", 5, 64, x=x.astype(np.float32), sums=sums, rows=5, D=160)
    assert_same(sums, x.sum(axis=1).astype(np.float32), "the sums of numbers that cancel in each lane", 0)


# --- one block for 32 columns

COLUMNS = {
    "8 rows of 32": (8, 32),
    "20 rows of 64": (20, 64),
    "21 rows of 45": (21, 45),
    "3 rows of 7": (3, 7),
}


@pytest.mark.hint(
    "thread (a, b) adds up rows b, b + 8, b + 16, ... of column 32 k + a; "
    "after the barrier one thread adds up the eight parts of each column, which stand in a __shared__ array",
    bounds="the last block may have fewer columns than 32",
    waiting="every thread of the block must come to __syncthreads(), those without a column too",
    race="in shared memory: is there a barrier between the last write and the first read, and has each "
    "thread a place of its own? In sums: does one thread write each, and has each block its own columns?",
    uninitialised="before the barrier each thread writes its part: without a row or a column it is 0",
    finite="never written: which thread writes this column? Otherwise: is there a shared number too many?",
)
@pytest.mark.parametrize("size", COLUMNS.values(), ids=COLUMNS)
def test_column_sums(impl, size):
    rows, D = size
    x, sums = numbers(rows, D), np.full(D, UNWRITTEN)
    kernel = running.kernel(impl, "column_sums")
    kernel((blocks_for(D, 32),), (32, 8), x=x, sums=sums, rows=rows, D=D)
    assert_same(sums, x.sum(axis=0), "the sums", TOLERANCE)


# --- LayerNorm

WIDTHS = {  # rows, columns, threads of a block
    "2 rows of 32, one warp in a block": (2, 32, 32),
    "5 rows of 6, two warps in a block": (5, 6, 64),
    "3 rows of 100, two warps in a block": (3, 100, 64),
    "9 rows of 192, four warps in a block": (9, 192, 128),
    "2 rows of 256, one warp in a block": (2, 256, 32),
}
LAYER_NORM_HINTS = {
    "mean": "the sum over all lanes, divided by D",
    "r": "1 over the root of (variance + eps); places beyond the last column may not count",
    "y": "(x - mean) r, times the weight of this column, plus its bias",
}


def run_layer_norm(impl, x, weight, bias, eps, threads):
    """y, mean and r, by the kernel, and how many bytes it has loaded."""
    y, mean, r = np.full_like(x, UNWRITTEN), *np.full((2, len(x)), UNWRITTEN)
    inputs = {"x": x, "weight": weight, "bias": bias, "y": y, "mean": mean, "r": r}
    sizes = {"rows": len(x), "D": x.shape[1], "eps": eps}
    return y, mean, r, run_rows(impl, "layer_norm", len(x), threads, **inputs, **sizes)


def assert_normalised(impl, x, eps, threads, tolerance=TOLERANCE):
    """Assert that y, mean and r of these rows are those of the library, in float64."""
    D = x.shape[1]
    weight, bias = numbers(D, seed=1, mean=1), numbers(D, seed=2)
    y, mean, r, _ = run_layer_norm(impl, x, weight, bias, eps, threads)
    wide = [each.astype(np.float64) for each in (x, weight, bias)]
    expected, (_, scale, _) = ops.layer_norm(*wide, eps)
    assert_same(mean, wide[0].mean(axis=1).astype(np.float32), "mean", tolerance)
    assert_same(r, scale[:, 0].astype(np.float32), "r", tolerance)
    assert_same(y, expected.astype(np.float32), "y", tolerance)


@pytest.mark.hint("mean first, then r, then y", **LAYER_NORM_HINTS, **WARP_HINTS)
@pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
def test_layer_norm(impl, size):
    rows, D, threads = size
    assert_normalised(impl, numbers(rows, D, mean=2), 1e-6, threads)


@pytest.mark.hint("eps is added to the variance, under the root", **WARP_HINTS)
def test_layer_norm_with_a_large_eps(impl):
    assert_normalised(impl, numbers(3, 40), 0.5, 32)


@pytest.mark.hint("subtract the mean before you square, as in lesson 7: these squares are 10^8", **WARP_HINTS)
def test_layer_norm_far_from_zero(impl):
    x = numbers(3, 70) + np.float32(10_000)
    assert_normalised(impl, x, 1e-6, 32, 1e-3)


@pytest.mark.hint(
    "keep the row in registers: an array of 8 floats in each lane is enough for 256 columns", **WARP_HINTS
)
def test_layer_norm_reads_its_input_once(impl):
    x, ones = numbers(4, 96), np.ones(96, np.float32)
    *_, loaded = run_layer_norm(impl, x, ones, ones, 1e-6, 64)
    times = loaded / x.nbytes - 2  # weight and bias are loaded for each row
    assert times < 1.5, f"each number of x is loaded {times:.0f} times, expected once"


# --- the gradient check


@pytest.mark.hint(
    "follow each kernel with D = 3, then 40, then 100: which threads have a column, and which sums are used?",
    inputs="who does what depends on sizes, not on values: for which D has every thread something to do?",
)
def test_guilty_kernel(impl):
    answer = impl.guilty_kernel()
    assert_exposed(answer, SUSPECTS.suspects())


# --- the puzzle

CLASSES = {  # rows, classes, threads of a block
    "3 rows of 10 classes, one warp in a block": (3, 10, 32),
    "2 rows of 32 classes, two warps in a block": (2, 32, 64),
    "6 rows of 100 classes, four warps in a block": (6, 100, 128),
    "1 row of 2 classes": (1, 2, 32),
}


def run_cross_entropy(impl, logits, labels, threads):
    """The losses and dlogits, by the kernel, and how many bytes it has loaded."""
    rows, classes = logits.shape
    losses, dlogits = np.full(rows, UNWRITTEN), np.full_like(logits, UNWRITTEN)
    arguments = {"logits": logits, "labels": labels, "losses": losses, "dlogits": dlogits}
    loaded = run_rows(impl, "cross_entropy", rows, threads, **arguments, rows=rows, classes=classes)
    return losses, dlogits, loaded


def assert_cross_entropy(impl, logits, labels, threads, tolerance=TOLERANCE):
    """Assert that the losses and their gradient are the library's, in float64."""
    losses, dlogits, _ = run_cross_entropy(impl, logits, labels, threads)
    wide = logits.astype(np.float64)
    expected = [ops.cross_entropy(wide[i : i + 1], labels[i : i + 1])[0] for i in range(len(labels))]
    assert_same(losses, np.array(expected, np.float32), "losses", tolerance)
    gradient = ops.cross_entropy_backward(ops.cross_entropy(wide, labels)[1])
    assert_same(dlogits, gradient.astype(np.float32), "dlogits", TOLERANCE)


@pytest.mark.puzzle
@pytest.mark.hint(
    "each lane has the largest of its logits, and a sum of exponentials relative to it",
    losses="log of the sum of exp(z - largest), plus largest, minus the logit of the right class",
    dlogits="softmax minus one-hot, over the number of rows: the mean loss is what is differentiated",
    **WARP_HINTS,
)
@pytest.mark.parametrize("size", CLASSES.values(), ids=CLASSES)
def test_cross_entropy(impl, size):
    rows, classes, threads = size
    labels = np.random.default_rng(1).integers(0, classes, rows).astype(np.int32)
    assert_cross_entropy(impl, 3 * numbers(rows, classes), labels, threads)


@pytest.mark.puzzle
@pytest.mark.hint(
    "subtract the largest logit of the row before exp; a lane that has none must not decide it",
    finite="subtract the largest logit of the row before exp; a lane that has none must not decide it, and "
    "-INFINITY - -INFINITY is no number",
)
@pytest.mark.parametrize("shift", [-5000, 5000], ids="{:+}".format)
def test_cross_entropy_of_large_logits(impl, shift):
    logits = np.round(8 * numbers(4, 20)) / 8 + np.float32(shift)
    assert_cross_entropy(impl, logits, np.array([0, 19, 7, 7], np.int32), 64, 1e-3)


@pytest.mark.puzzle
@pytest.mark.hint(
    "a new largest logit makes what was added so far smaller: by which factor? "
    "(Read the label before the loop: it is counted too.)"
)
def test_cross_entropy_reads_each_logit_twice(impl):
    logits, labels = numbers(2, 256), np.array([3, 50], np.int32)
    *_, loaded = run_cross_entropy(impl, logits, labels, 64)
    times = loaded / logits.nbytes
    assert times < 2.5, f"{times:.1f} times as many bytes are loaded as the logits have, expected about 2"
