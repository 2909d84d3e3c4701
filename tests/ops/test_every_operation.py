"""Properties of every operation of tinyvit.ops: one test for each."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.helpers import distance, dtypes, layouts, seeds
from tests.ops.operation_cases import BENT, OPERATIONS, Sizes, some_sizes
from tinyvit import ops
from tinyvit.backend import to_numpy
from tinyvit.gradcheck import TOLERANCE, check_gradients

every_operation = pytest.mark.parametrize("name", OPERATIONS)


def draw_inputs(name, sizes, seed, dtype="float64"):
    """The operation at these sizes as (forward, backward), its random inputs, and the generator."""
    forward, backward, shapes = OPERATIONS[name]
    rng = np.random.default_rng(seed)
    draw = spread_out if name in BENT else normal
    inputs = [draw(rng, shape).astype(dtype) for shape in shapes(sizes)]
    return (lambda *a: forward(sizes, *a)), backward, inputs, rng


def normal(rng, shape):
    """Numbers around 0, those of a matrix as small as LeCun's: with larger ones, attention would look at a
    single token, and have gradients as small as the rounding of finite differences."""
    return rng.standard_normal(shape) / (np.sqrt(shape[0]) if len(shape) == 2 else 1)


def spread_out(rng, shape):
    """Different numbers in random order, about half of them negative, none of them 0."""
    count = np.prod(shape)
    return (rng.permutation(count).reshape(shape) - count // 2 + 0.5) / 4


def gradients_of(backward, dy, cache):
    gradients = backward(dy, cache)
    return gradients if isinstance(gradients, tuple | list) else (gradients,)


def test_the_table_has_every_operation_with_a_backward():
    with_backward = {name.removesuffix("_backward") for name in ops.__all__ if name.endswith("_backward")}
    assert with_backward == {name.split(",")[0].split()[0] for name in OPERATIONS}


@every_operation
@settings(max_examples=15)
@given(sizes=some_sizes(), seed=seeds())
def test_backward_matches_finite_differences(name, sizes, seed):
    forward, backward, inputs, rng = draw_inputs(name, sizes, seed)
    errors = check_gradients(forward, backward, inputs, rng)
    assert all(error < TOLERANCE for error in errors), errors


@every_operation
@settings(max_examples=10)
@given(sizes=some_sizes(), seed=seeds(), dtype=dtypes())
def test_results_and_gradients_have_the_dtype_of_the_input(name, sizes, seed, dtype):
    forward, backward, inputs, rng = draw_inputs(name, sizes, seed, dtype)
    y, cache = forward(*inputs)
    gradients = gradients_of(backward, rng.standard_normal(y.shape).astype(dtype), cache)
    assert [y.dtype.name, *(g.dtype.name for g in gradients)] == [dtype] * (1 + len(inputs))
    assert [g.shape for g in gradients] == [x.shape for x in inputs]


@every_operation
@settings(max_examples=10)
@given(sizes=some_sizes(), seed=seeds())
def test_neither_inputs_nor_upstream_gradient_are_modified(name, sizes, seed):
    forward, backward, inputs, rng = draw_inputs(name, sizes, seed)
    before = [x.copy() for x in inputs]
    y, cache = forward(*inputs)
    for x, copy in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(x, copy, err_msg="forward wrote into an input")
    y_before = y.copy()
    dy = rng.standard_normal(y.shape)
    dy_before = dy.copy()
    backward(dy, cache)
    for x, copy in zip([*inputs, y, dy], [*before, y_before, dy_before], strict=True):
        np.testing.assert_array_equal(x, copy, err_msg="backward wrote into an input, its result or dy")


@every_operation
@settings(max_examples=10)
@given(sizes=some_sizes(), seed=seeds())
def test_backward_can_be_called_twice(name, sizes, seed):
    forward, backward, inputs, rng = draw_inputs(name, sizes, seed)
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    once = [np.array(g) for g in gradients_of(backward, dy, cache)]
    again = gradients_of(backward, dy, cache)
    for a, b in zip(once, again, strict=True):
        np.testing.assert_array_equal(a, b)


@every_operation
@settings(max_examples=10)
@given(sizes=some_sizes(), seed=seeds(), layout=layouts(), dy_layout=layouts())
def test_the_memory_layout_of_the_arrays_does_not_matter(name, sizes, seed, layout, dy_layout):
    forward, backward, inputs, rng = draw_inputs(name, sizes, seed)
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    expected = [y, *gradients_of(backward, dy, cache)]
    y, cache = forward(*map(layout, inputs))
    results = [y, *gradients_of(backward, dy_layout(dy), cache)]
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-12, atol=1e-13)


@every_operation
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float64", 1e-12)])
def test_cupy_agrees_with_numpy(gpu, name, dtype, tolerance):
    sizes = Sizes(B=4, N=6, H=3, K=5, M=17, C=4, P=3, rows=2, columns=4)
    forward, backward, inputs, rng = draw_inputs(name, sizes, 1, dtype)
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape).astype(dtype)
    expected = [y, *gradients_of(backward, np.asarray(dy), cache)]
    y, cache = forward(*map(gpu.xp.asarray, inputs))
    results = [y, *gradients_of(backward, gpu.xp.asarray(dy), cache)]
    for result, right in zip(results, expected, strict=True):
        assert result.dtype == dtype
        assert distance(to_numpy(result), right) < tolerance
