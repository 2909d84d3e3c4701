"""Checks of lesson 21."""

import importlib
import tracemalloc

import numpy as np
import pytest

from lessons.referee import Fault, assert_exposed, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import named, outcome

suspects = importlib.import_module("lessons.21_positions.suspects")


def clocks(grid, width):
    """The definition of the sines and cosines, patch by patch and number by number."""
    F = width // 4
    table = []
    for r, c in np.ndindex(*grid):
        speeds = [10_000.0 ** (-i / (F - 1)) if F > 1 else 1.0 for i in range(F)]
        row = [np.sin(w * c) for w in speeds] + [np.cos(w * c) for w in speeds]
        table.append(row + [np.sin(w * r) for w in speeds] + [np.cos(w * r) for w in speeds])
    return np.array(table)


@pytest.mark.hint(
    "first all the sines of the column, then its cosines, then the sines of the row, then its cosines; the "
    "patches are in reading order",
    shape="a row for every patch, gh * gw of them, and 4 times F numbers in each",
    crash="with a single frequency, F - 1 is 0: its speed is 1",
)
@pytest.mark.parametrize(("grid", "width"), [((3, 2), 12), ((2, 5), 8), ((4, 7), 32), ((3, 5), 4)], ids=str)
def test_sincos_number_by_number(impl, grid, width):
    assert_same(impl.positions_sincos(grid, width), clocks(grid, width), f"the table of a grid {grid}")


@pytest.mark.hint(
    "sin a sin b + cos a cos b = cos(a - b): each frequency says how far apart two columns, or two rows, are"
)
def test_the_products_of_sines_and_cosines_depend_on_the_distance_alone(impl):
    rows = np.asarray(impl.positions_sincos((5, 6), 16)).reshape(5, 6, 16)
    w = 10_000.0 ** (-np.arange(4) / 3)
    for down, across in ((0, 0), (2, 3), (4, 1)):
        products = (rows[: 5 - down, : 6 - across] * rows[down:, across:]).sum(axis=2)
        expected = np.full(products.shape, (np.cos(down * w) + np.cos(across * w)).sum())
        assert_same(products, expected, f"the products of patches {down} down and {across} across")


def inputs(seed, B, H, Q, N, K):
    rng = np.random.default_rng(seed)
    return {"q": rng.normal(0.5, 1, (B, H, Q, K)), "table": rng.normal(size=(2 * N - 1, K))}


def pair_by_pair(q, table):
    """The definition, in loops."""
    (B, H, Q, _), N = q.shape, (len(table) + 1) // 2
    S = np.zeros((B, H, Q, N))
    for b, h, i, j in np.ndindex(*S.shape):
        S[b, h, i, j] = np.dot(q[b, h, i], table[N - 1 - (i - j)])
    return S


@pytest.mark.hint(
    "key 0 is the farthest to the left: for the last query its offset is N - 1, which is row 0 of the table"
)
def test_three_tokens_by_hand(impl):
    q, table = np.array([[[[1.0], [10.0], [100.0]]]]), np.array([[3.0], [5.0], [7.0], [2.0], [4.0]])
    S, _ = outcome(impl.relative_scores(q, table))
    assert_same(S, np.array([[[[7.0, 2, 4], [50, 70, 20], [300, 500, 700]]]]), "S of three tokens")


SIZES = {  # B, H, Q, N, K
    "as many queries as tokens": (2, 3, 5, 5, 4),
    "2 queries of 6 tokens": (3, 2, 2, 6, 5),
    "one query": (2, 3, 1, 4, 5),
    "4 queries of 5 tokens, one number each": (2, 3, 4, 5, 1),
    "one token": (3, 2, 1, 1, 4),
}


@pytest.mark.hint(
    "query i gives key j the product with the vector of offset i - j, and row m of the table belongs to "
    "offset N - 1 - m; with fewer queries than tokens, the rows in use begin at N - Q",
    crash="do the sizes come from q.shape and len(table)? N is (len(table) + 1) // 2, not Q",
    shape="S has a row for each query and a column for each of the N tokens",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_scores_pair_by_pair(impl, size):
    arrays = inputs(1, *size)
    S, _ = outcome(impl.relative_scores(*arrays.values()))
    assert_same(S, pair_by_pair(**arrays), "S", of=pair_by_pair, inputs=arrays)


@pytest.mark.hint(
    "begin with a dG of zeros, and write dS to where the forward read S",
    dq="dG times the same vectors as in the forward",
    dtable="an offset's gradient is the sum along its diagonal, over all images and heads; the offsets that "
    "occur in no pair have the gradient 0",
    dtype="np.zeros makes float64 unless told dtype=dS.dtype",
    shape="dtable has 2N - 1 rows, also where fewer are in use",
    crash="with fewer queries than tokens, both products need the rows in use alone: from N - Q on",
    cache="write nothing to what the cache holds",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_gradients(impl, size):
    assert_operation(impl.relative_scores, impl.relative_scores_backward, {"": inputs(2, *size)})


@pytest.mark.hint("every query, image and head has its own S: nothing of one may reach another's")
def test_one_upstream_gradient_reaches_one_query_and_one_offset(impl):
    arrays = inputs(3, 2, 3, 4, 5, 2)
    _, cache = outcome(impl.relative_scores(*arrays.values()))
    dS = np.zeros((2, 3, 4, 5))
    dS[1, 2, 3, 1] = 1.0  # offset 2: row 2 of a table for 5 tokens
    got = named(impl.relative_scores_backward(dS, cache), arrays)
    expected = np.zeros((9, 2))
    expected[2] = arrays["q"][1, 2, 3]
    assert_same(got["table"], expected, "dtable of one pair")
    expected = np.zeros((2, 3, 4, 2))
    expected[1, 2, 3] = arrays["table"][2]
    assert_same(got["q"], expected, "dq of one pair")


@pytest.mark.hint("no array of Q x N x K numbers: one product with the table, then a shift")
def test_no_vector_for_every_pair(impl):
    q, table = inputs(4, 1, 1, 300, 300, 64).values()
    tracemalloc.start()
    try:
        S, cache = outcome(impl.relative_scores(q, table))
        impl.relative_scores_backward(S, cache)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 300 * 300 * 64 * 8 // 4:
        raise Fault(f"{peak / 1e6:.0f} MB at once; a vector for every pair takes 46 MB, and S takes 0.7 MB")


@pytest.mark.hint("make new arrays: what you were given belongs to somebody else")
def test_nothing_given_is_changed(impl):
    arrays = list(inputs(5, 2, 2, 3, 4, 5).values())
    before = [array.copy() for array in arrays]
    S, cache = outcome(impl.relative_scores(*arrays))
    dS = np.ones_like(S)
    impl.relative_scores_backward(dS, cache)
    assert_untouched([*before, np.ones_like(S)], [*arrays, dS], ("q", "table", "dS"))


@pytest.mark.hint("with as many queries as tokens all three agree: when are there fewer, as in lesson 8?")
def test_guilty_offsets(impl):
    assert_exposed(impl.guilty_offsets(), suspects.SUSPECTS)


def in_the_plane(table, grid):
    """The definition, in loops."""
    (gh, gw), H = grid, table.shape[2]
    S = np.zeros((H, gh * gw, gh * gw))
    for r, c, r2, c2 in np.ndindex(gh, gw, gh, gw):
        S[:, r * gw + c, r2 * gw + c2] = table[gh - 1 + r - r2, gw - 1 + c - c2]
    return S


GRIDS = [((2, 3), 4), ((4, 2), 3), ((1, 5), 2), ((3, 1), 2), ((3, 5), 1)]


@pytest.mark.puzzle
@pytest.mark.hint(
    "the offset is that of the query minus that of the key, first down, then across; the middle of the table "
    "is [gh - 1, gw - 1]"
)
@pytest.mark.parametrize(("grid", "heads"), GRIDS, ids=str)
def test_plane_scores(impl, grid, heads):
    table = np.random.default_rng(6).normal(size=(2 * grid[0] - 1, 2 * grid[1] - 1, heads))
    S, _ = outcome(impl.plane_scores(table, grid))
    right = lambda table: in_the_plane(table, grid)
    assert_same(S, right(table), "S", of=right, inputs={"table": table})


@pytest.mark.puzzle
@pytest.mark.hint(
    "an entry's gradient is the sum over all pairs of patches at its offset",
    dtable="dtable[index] += values adds once where an index occurs many times: look up np.add.at",
    dtype="the zeros to which you add need dtype=dS.dtype",
)
@pytest.mark.parametrize(("grid", "heads"), GRIDS, ids=str)
def test_plane_gradients(impl, grid, heads):
    table = np.random.default_rng(7).normal(size=(2 * grid[0] - 1, 2 * grid[1] - 1, heads))
    forward = lambda table: impl.plane_scores(table, grid)
    assert_operation(forward, impl.plane_scores_backward, {"": {"table": table}})
