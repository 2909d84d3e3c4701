"""Checks of lesson 29."""

import importlib
import tracemalloc

import numpy as np
import pytest

from lessons.referee import Fault, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import several

running = importlib.import_module("lessons.28_kernels.running")
slips = importlib.import_module("lessons.29_flash_attention.slips")
plain = importlib.import_module("lessons.29_flash_attention.plain")
FLOAT32 = 1e-6  # of the largest value, in sums of at most 100 numbers


def inputs(N=7, K=3, seed=0):
    """q, k and v, the queries and keys large enough that the largest score of a row grows now and then."""
    rng = np.random.default_rng(seed)
    return {"q": rng.normal(size=(N, K)), "k": rng.normal(0.5, 1.5, (N, K)), "v": rng.normal(1, 2, (N, K))}


def singles(N, K, seed=0):
    """q, k and v in float32, with scores of about 1, so that few digits are lost in exp."""
    return np.random.default_rng(seed).normal(size=(3, N, K)).astype(np.float32)


def whole_numbers(N, K, largest, seed=0):
    """float32 inputs whose scores are exact, and all about `largest`, which may be below 0."""
    rng = np.random.default_rng(seed)
    q, k = rng.integers(-3, 4, (2, N, K)).astype(np.float32)
    q[:, 0], k[:, 0] = 4, largest + rng.integers(-3, 4, N)
    return q, k, rng.normal(size=(N, K)).astype(np.float32)


def assert_attention(o, log_sums, q, k, v, tile, tolerance):
    """Assert that these are the attention and the log-sums of all scores at once, in float64."""
    wide = [each.astype(np.float64) for each in (q, k, v)]
    right = [each.astype(q.dtype) for each in slips.whole(*wide)]

    def check():
        assert_same(o, right[0], "o", tolerance)
        assert_same(log_sums, right[1], "log_sums", tolerance)

    slips.naming(check, lambda: slips.forward_slips(*wide, tile))


# --- forward, in NumPy


@pytest.mark.hint(
    "with one tile this is lesson 6's attention: the softmax of q k^T / sqrt(K), times v",
    log_sums="the largest score of the row, plus the log of the sum of exp(score - largest)",
    dtype="np.zeros and np.full make float64: np.zeros_like(q[:, :1]) does not; np.sqrt(K) is a float64, too",
)
@pytest.mark.parametrize("tile", [7, 20])
def test_one_tile(impl, tile):
    arrays = inputs()
    o, log_sums = several(impl.flash_attention, ("o", "log_sums"), **arrays, tile=tile)
    assert_attention(o, log_sums, **arrays, tile=tile, tolerance=1e-12)


@pytest.mark.hint(
    "when a tile brings a larger score, what was added so far is relative to the old one: by which factor "
    "do the sum and the outputs shrink? At the end, once, the outputs are divided by the sum",
    log_sums="is the sum made smaller when a larger score comes, and is the largest added to its log?",
    crash="a slice that goes too far stops at the end by itself; do the shapes hold for a smaller last tile?",
)
@pytest.mark.parametrize("tile", [1, 3, 4, 6])
def test_several_tiles(impl, tile):
    arrays = inputs(seed=1)
    o, log_sums = several(impl.flash_attention, ("o", "log_sums"), **arrays, tile=tile)
    assert_attention(o, log_sums, **arrays, tile=tile, tolerance=1e-12)


LARGE = {  # how large the scores are, how much larger those of the first keys, and where NaN comes from
    "about +5,000": (5000, 0, "exp(5,000) is infinite unless the largest so far is taken off first"),
    "the largest of them first": (
        0,
        2000,
        "the largest has fallen, and exp(old largest - new) is infinite: it must be the largest so far",
    ),
    "about -5,000": (
        -5000,
        0,
        "the largest begins above all scores, each exp(score - largest) is 0, and 0 / 0 is not a number",
    ),
}


def with_large_scores(check, why):
    """Run a check, and if it finds NaN or infinity, say first where that comes from."""
    try:
        check()
    except Fault as fault:
        if fault.kind != "finite":
            raise
        said = f"{fault.name} {'are' if fault.name.endswith('s') else 'is'} not finite: {why}"
        raise Fault(f"{said}\n    {fault}", fault.name, fault.kind) from None


@pytest.mark.hint(
    "no exponent may be above 0: it is a score minus the largest so far, or the old largest minus the new",
    finite="no exponent may be above 0: it is a score minus the largest so far, or the old largest minus the "
    "new; and before the first tile the largest is -np.inf",
)
@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE)
def test_large_scores(impl, case):
    largest, more, why = case
    q, k, v = (each.astype(np.float64) for each in whole_numbers(9, 4, largest))
    k[:3, 0] += more
    o, log_sums = several(impl.flash_attention, ("o", "log_sums"), q, k, v, 3)
    with_large_scores(lambda: assert_attention(o, log_sums, q, k, v, 3, 1e-9), why)


@pytest.mark.hint("for each tile of queries go through all tiles of keys, and let go of each before the next")
def test_no_more_than_a_tile_is_held(impl):
    arrays = [each.astype(np.float32) for each in inputs(1024, 2).values()]
    before = [each.copy() for each in arrays]
    assert_lean("flash_attention", lambda: impl.flash_attention(*arrays, 64))
    assert_untouched(before, arrays, "qkv")


@pytest.mark.hint("np.zeros and np.full make float64: ask for q.dtype; np.sqrt(K) is a float64, too")
def test_float32(impl):
    q, k, v = singles(100, 16)
    o, log_sums = several(impl.flash_attention, ("o", "log_sums"), q, k, v, 32)
    assert_attention(o, log_sums, q, k, v, 32, FLOAT32)


def assert_lean(name, run):
    """Assert that no strip of N x tile numbers is held, with N = 1024, tile = 64 and float32."""
    tracemalloc.start()
    try:
        run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 230_000:  # the referee's copies of the arguments take 45,000 of them
        raise Fault(
            f"{name} held {peak / 1000:,.0f} kB at once: a tile of 64 x 64 takes 16 kB, q takes 8 kB, "
            "64 whole rows of A take 262 kB, and all of A takes 4,194 kB",
            name,
            "memory",
        )


# --- backward, in NumPy


def whole_forward(q, k, v):
    """Attention from all scores at once, with the cache that flash attention has."""
    o, log_sums = slips.whole(q, k, v)
    return o, (q, k, v, o, log_sums)


@pytest.mark.hint(
    "do the shapes (N, K) fit, also in a smaller last tile?",
    dv="value m is heard by the queries of every tile, with the weight A_nm = exp(S_nm - log_sums_n): add up",
    dq="dS = A * (dA - D), D_n = dO_n . o_n; a query meets the keys of every tile: add up, over root K",
    dk="dS = A * (dA - D), D_n = dO_n . o_n; a key meets the queries of every tile: add up, over root K",
    dtype="np.zeros makes float64: np.zeros_like(q) does not; np.sqrt(K) is a float64, too",
)
@pytest.mark.parametrize("tile", [7, 20, 3, 4, 1])
def test_backward(impl, tile):
    arrays = inputs(seed=2)
    seen = []

    def backward(dO, cache):
        seen.append(dO.copy())
        return impl.flash_attention_backward(dO, *cache, tile)

    slips.naming(
        lambda: assert_operation(whole_forward, backward, {"": arrays}),
        lambda: slips.backward_slips(seen[-1], **arrays, tile=tile),
    )


@pytest.mark.hint("exp(score) alone is infinite here: take the log_sum of the row off before exp, not after")
def test_backward_of_large_scores(impl):
    q, k, v = (each.astype(np.float64) for each in whole_numbers(9, 4, 5000))
    o, log_sums = slips.whole(q, k, v)
    dO = np.random.default_rng(3).normal(size=o.shape)
    A = np.exp(q @ k.T / 2 - log_sums[:, None])
    dA = dO @ v.T
    dS = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / 2
    got = several(impl.flash_attention_backward, ("dq", "dk", "dv"), dO, q, k, v, o, log_sums, 4)
    for name, gradient, expected in zip(("dv", "dk"), (got[2], got[1]), (A.T @ dO, dS.T @ q), strict=True):
        assert_same(gradient, expected, name, 1e-7)


@pytest.mark.hint("each tile of A is used for dv, dq and dk, and let go of before the next")
def test_the_backward_holds_no_more_than_a_tile(impl):
    q, k, v = (each.astype(np.float32) for each in inputs(1024, 2).values())
    o, log_sums = slips.whole(q, k, v)
    before = [each.copy() for each in (o, q, k, v, o, log_sums)]
    after = [each.copy() for each in before]
    assert_lean("flash_attention_backward", lambda: impl.flash_attention_backward(*after, 64))
    assert_untouched(before, after, ["dO", "q", "k", "v", "o", "log_sums"])


# --- forward, as a kernel

HINTS = {
    "bounds": "keys from N on do not exist, and so do queries: what stands in for them?",
    "race": "the tile may be read when all have written it, and written again when all have read it: where "
    "do the two barriers belong? And each query has one thread, counted through all blocks",
    "uninitialised": "the block may have fewer threads than a tile has numbers, or more: does somebody write "
    "every place, those of keys that do not exist too? And is there a barrier before the reads?",
    "waiting": "every thread of the block must come to each __syncthreads(), those without a query too",
    "finite": "NaN is what stood there before: does somebody write each number? Else: is 0 / 0 worked out?",
}
LAUNCHES = {  # N, K, TILE, threads of a block
    "one tile, one block": (16, 8, 16, 16),
    "three tiles, a block with 16 threads to spare": (48, 8, 16, 32),
    "the last tile has 5 keys": (37, 8, 16, 32),
    "fewer keys than one tile": (5, 8, 16, 8),
    "more threads than keys in a tile": (100, 16, 32, 64),
}


def launch(impl, q, k, v, tile, threads):
    """o and log_sums, by the kernel, and how many bytes it has loaded."""
    N, K = q.shape
    o, log_sums = np.full_like(q, np.nan), np.full(N, np.nan, np.float32)
    kernel = running.kernel(impl, "flash_attention", plain.sizes(K, tile))
    arrays = {"q": q, "k": k, "v": v, "o": o, "log_sums": log_sums}
    return o, log_sums, kernel((-(-N // threads),), (threads,), **arrays, N=N)


@pytest.mark.hint(
    "it is the NumPy version with one query: an array of t numbers there is one number of a thread here",
    log_sums="largest + logf(total)",
    **HINTS,
)
@pytest.mark.parametrize("size", LAUNCHES.values(), ids=LAUNCHES)
def test_the_kernel(impl, size):
    N, K, tile, threads = size
    q, k, v = singles(N, K)
    o, log_sums, _ = launch(impl, q, k, v, tile, threads)
    assert_attention(o, log_sums, q, k, v, tile, FLOAT32)


@pytest.mark.hint(
    "the score of a key that does not exist must be below all others, and so must the first largest",
    **HINTS | {"finite": "before the first tile the largest is a number below every score, as -1e30f"},
)
@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE)
def test_the_kernel_with_large_scores(impl, case):
    largest, more, why = case
    q, k, v = whole_numbers(40, 16, largest)
    k[:3, 0] += more
    o, log_sums, _ = launch(impl, q, k, v, 32, 64)
    with_large_scores(lambda: assert_attention(o, log_sums, q, k, v, 32, FLOAT32), why)


@pytest.mark.hint(
    "the query stays in registers; keys and values are read once for each block, into shared memory"
)
def test_the_kernel_reads_each_number_once_a_block(impl):
    N, K, blocks = 100, 16, 4
    q, k, v = singles(N, K)
    *_, loaded = launch(impl, q, k, v, 32, 32)
    expected = 4 * (N * K + 2 * blocks * N * K)
    if loaded > 1.1 * expected:
        raise Fault(
            f"the kernel reads {loaded:,} bytes, expected {expected:,}: q once, and k and v once for each of "
            f"{blocks} blocks",
            "the kernel",
            "bytes",
        )


# --- the puzzle


def parts_of(q, k, v, sizes):
    """The right results of flash_attention for the same queries and each part of the keys."""
    ends = np.cumsum(sizes)[:-1]
    pieces = zip(np.split(k, ends), np.split(v, ends), strict=True)
    return [slips.whole(q, *piece) for piece in pieces]


@pytest.mark.puzzle
@pytest.mark.hint(
    "exp(log_sums) of a part is its sum of exponentials: which share of the sum over all keys is that?",
    log_sums="the log of the sum of exp(log_sums) over the parts",
    finite="take off the largest of the parts' log_sums before exp",
)
@pytest.mark.parametrize("sizes", [(9,), (4, 5), (1, 2, 6)], ids=str)
@pytest.mark.parametrize("largest", [0, 5000, -5000])
def test_merge_parts(impl, sizes, largest):
    q, k, v = (each.astype(np.float64) for each in whole_numbers(9, 4, largest))
    parts = parts_of(q, k, v, sizes)
    expected = slips.whole(q, k, v)
    o, log_sums = several(impl.merge_parts, ("o", "log_sums"), parts)

    def check():
        assert_same(log_sums, expected[1], "log_sums")
        assert_same(o, expected[0], "o")

    why = "exp(log_sums) is infinite or 0 unless something is taken off first"
    with_large_scores(lambda: slips.naming(check, lambda: slips.merging_slips(parts)), why)
