"""Muon's kernels against tinyvit.optim, for matrices that one block does and for those that several share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.cuda_on_cpu import checking
from tests.engine.cuda.cases import C_TYPES, normal, storage
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit.engine.cuda.calls import muon
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.optim.muon import POLYNOMIAL

GAP = 7  # numbers before, between and after the matrices, which nobody may touch
KERNELS = ("momentum", *(f"{k}<{t}>" for k in ("normalise", "polynomial", "move") for t in C_TYPES.values()))
sides = st.sampled_from([(1, 1), (1, 9), (5, 5), (16, 256), (17, 241), (40, 300), (3, 4100)])  # 1 to 4 blocks


def places_of(A, B):
    """A flat buffer of a matrix, a tall one, and two side by side: its size, and where each (A, B) lies."""
    wide, tall = GAP, GAP + A * B + GAP
    both = tall + A * B + GAP
    table = [(wide, B, 1), (tall, 1, A), (both, 2 * B, 1), (both + B, 2 * B, 1)]
    return both + 2 * A * B + GAP, np.array(table, np.int32)


def views(flat, places, A, B):
    """The matrices (A, B) of a flat array, as views."""
    step = flat.itemsize
    return [
        np.lib.stride_tricks.as_strided(flat[start:], (A, B), (row * step, column * step))
        for start, row, column in places
    ]


def matrices_of(places, A, B):
    """The description of the matrices for the launches."""
    return muon.Matrices(Buffer("places", places.shape, "int32"), A, B)


@settings(max_examples=30)
@given(shape=sides, factor=st.sampled_from([1.0, 0.3]), seed=seeds())
def test_momentum_does_all_matrices_and_nothing_between_them(shape, factor, seed):
    size, places = places_of(*shape)
    rng, matrices = np.random.default_rng(seed), matrices_of(places, *shape)
    names = ("params", "grads", "m", "directions")
    values = {name: normal(rng, "float32", size) for name in names}
    controls, partials = Buffer("controls", (8,)), Buffer("partials", (4, matrices.chunks))
    launch = muon.momentum(matrices, *(Buffer(name, (size,)) for name in names), controls, partials, 0.9, 0.2)
    lr = 0.05
    told = {"places": places, "controls": np.array([lr, 0, 0, factor, 0, 0, 0, 0])}
    found = run(launch, values | told, KERNELS)

    expected = {name: array.copy() for name, array in values.items()}
    for w, g, m, u in zip(*(views(expected[name], places, *shape) for name in names), strict=True):
        m[...] = 0.9 * m + 0.1 * factor * g
        u[...] = 0.9 * m + 0.1 * factor * g
        w *= 1 - lr * 0.2
    for name in ("params", "m", "directions"):
        assert_agrees(found[name], expected[name])
    squares = [(u.astype(float) ** 2).sum() for u in views(expected["directions"], places, *shape)]
    assert_agrees(found["partials"].sum(axis=1), np.array(squares))


@settings(max_examples=30)
@given(shape=sides, dtype=storage(), seed=seeds())
def test_directions_of_length_1_are_stacked_and_zeros_stay_zeros(shape, dtype, seed):
    size, places = places_of(*shape)
    rng, matrices = np.random.default_rng(seed), matrices_of(places, *shape)
    directions = normal(rng, "float32", size)
    views(directions, places, *shape)[2][...] = 0
    right = np.stack(views(directions, places, *shape))
    squares = rng.dirichlet(np.ones(matrices.chunks), 4) * (right**2).sum(axis=(1, 2))[:, None]
    x, partials = Buffer("x", right.shape, dtype), Buffer("partials", squares.shape)
    launch = muon.normalise(matrices, Buffer("directions", (size,)), partials, x)
    values = {"directions": directions, "partials": squares, "places": places}
    found = run(launch, values, KERNELS)["x"]
    assert (found[2] == 0).all()
    lengths = np.sqrt((right.astype(float) ** 2).sum(axis=(1, 2), keepdims=True))
    assert_agrees(found, right / np.maximum(lengths, 1e-7), dtype)


@settings(max_examples=20)
@given(n=st.integers(1, 5), A=st.integers(1, 20), dtype=storage(), seed=seeds())
def test_the_polynomial_takes_the_place_of_the_square(n, A, dtype, seed):
    (a, b, c), rng = POLYNOMIAL, np.random.default_rng(seed)
    gram, square = (normal(rng, dtype, n, A, A) for _ in range(2))
    launch = muon.polynomial(Buffer("gram", gram.shape, dtype), Buffer("square", square.shape, dtype))
    found = run(launch, {"gram": gram, "square": square}, KERNELS)["square"]
    assert_agrees(found, a * np.eye(A) + b * gram + c * square, dtype)


@settings(max_examples=30)
@given(shape=sides, dtype=storage(), seed=seeds())
def test_all_matrices_move_and_nothing_between_them(shape, dtype, seed):
    size, places = places_of(*shape)
    rng = np.random.default_rng(seed)
    params, x = normal(rng, "float32", size), normal(rng, dtype, 4, *shape)
    buffers = Buffer("x", x.shape, dtype), Buffer("params", (size,)), Buffer("controls", (8,))
    launch = muon.move(matrices_of(places, *shape), *buffers, 3.0)
    told = {"places": places, "controls": np.array([0.05, *[np.nan] * 7])}
    found = run(launch, {"params": params, "x": x} | told, KERNELS)["params"]
    for w, change in zip(views(params, places, *shape), x, strict=True):
        w -= 0.05 * 3.0 * change
    assert_agrees(found, params)


@pytest.mark.parametrize("shape", [(17, 241), (3, 4100)])
def test_blocks_that_share_a_matrix_do_not_disturb_each_other(shape):
    size, places = places_of(*shape)
    matrices, rng = matrices_of(places, *shape), np.random.default_rng(0)
    assert matrices.chunks > 1
    flat = {name: Buffer(name, (size,)) for name in ("params", "grads", "m", "directions")}
    controls, partials = Buffer("controls", (8,)), Buffer("partials", (4, matrices.chunks))
    x = Buffer("x", (4, *shape), "bfloat16")
    launches = (
        muon.momentum(matrices, *flat.values(), controls, partials, 0.9, 0.1),
        muon.normalise(matrices, flat["directions"], partials, x),
        muon.move(matrices, x, flat["params"], controls, 0.5),
    )
    buffers = (*flat.values(), controls, partials, x)
    values = {buffer.name: rng.random(buffer.shape) for buffer in buffers} | {"places": places}
    for seed, launch in enumerate(launches):
        with checking(seed) as checks:
            run(launch, values, KERNELS)
        assert checks.launches[0].bytes_moved == launch.bytes_moved
