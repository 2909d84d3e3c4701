"""Tables of positions in the plane, and the scores of relative attention, against loops and by hand."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import distance, seeds
from tinyvit.ops import positions_2d, positions_sincos, relative_scores, relative_scores_backward


@given(gh=st.integers(1, 4), gw=st.integers(1, 4), half=st.integers(1, 3), seed=seeds())
def test_a_patch_has_the_vector_of_its_row_and_then_that_of_its_column(gh, gw, half, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.standard_normal((gh, half)), rng.standard_normal((gw, half))
    table, _ = positions_2d(rows, columns)
    assert table.shape == (gh * gw, 2 * half)
    for r, c in np.ndindex(gh, gw):
        np.testing.assert_array_equal(table[r * gw + c], [*rows[r], *columns[c]])


def test_sines_and_cosines_by_hand():
    table = positions_sincos((3, 5), 12)  # three frequencies: 1, 1/100, 1/10000
    r, c = 2, 3
    expected = [f(place * w) for place in (c, r) for f in (math.sin, math.cos) for w in (1, 1e-2, 1e-4)]
    np.testing.assert_allclose(table[r * 5 + c], expected, rtol=1e-14)
    np.testing.assert_array_equal(table[0], [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3)
    two = positions_sincos((1, 2), 8)[1]  # two frequencies: 1, 1/10000
    np.testing.assert_allclose(two, [math.sin(1), math.sin(1e-4), math.cos(1), math.cos(1e-4), 0, 0, 1, 1])


def test_a_width_of_four_has_one_frequency():
    np.testing.assert_allclose(positions_sincos((2, 2), 4)[3], [np.sin(1), np.cos(1)] * 2)


@given(
    B=st.integers(1, 2),
    H=st.integers(1, 3),
    K=st.integers(1, 4),
    N=st.integers(1, 6),
    seed=seeds(),
    data=st.data(),
)
def test_relative_scores_equal_a_loop_over_queries_and_keys(B, H, K, N, seed, data):
    Q, rng = data.draw(st.integers(1, N)), np.random.default_rng(seed)
    q, table = rng.standard_normal((B, H, Q, K)), rng.standard_normal((2 * N - 1, K))
    vectors = dict(zip(range(N - 1, -N, -1), table, strict=True))  # by offset
    dS, dq, dtable = rng.standard_normal((B, H, Q, N)), np.zeros_like(q), np.zeros_like(table)
    S, cache = relative_scores(q, table)
    assert S.shape == dS.shape
    for b, h, i, j in np.ndindex(S.shape):
        assert np.isclose(S[b, h, i, j], q[b, h, i] @ vectors[i - j], rtol=1e-12, atol=1e-12)
        dq[b, h, i] += dS[b, h, i, j] * vectors[i - j]
        dtable[N - 1 - (i - j)] += dS[b, h, i, j] * q[b, h, i]
    for found, expected in zip(relative_scores_backward(dS, cache), (dq, dtable), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_equal_queries_give_scores_that_depend_on_the_offset_alone():
    rng = np.random.default_rng(1)
    q = np.broadcast_to(rng.standard_normal((2, 3, 1, 4)), (2, 3, 6, 4))
    S, _ = relative_scores(q, rng.standard_normal((11, 4)))
    for offset in range(-5, 6):
        diagonal = np.diagonal(S, offset, axis1=2, axis2=3)
        assert distance(diagonal, np.broadcast_to(diagonal[..., :1], diagonal.shape)) < 1e-13
