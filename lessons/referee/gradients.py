"""Backward passes against central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lessons.referee.diagnosis import diagnose
from lessons.referee.fault import Fault, distinguished, ordinal
from lessons.referee.values import assert_form, assert_unchanged
from tinyvit.checking import TOLERANCE, gradient_error, numerical_gradient


def assert_gradients(
    forward: Callable,
    backward: Callable,
    inputs: dict[str, np.ndarray],
    seed: int = 0,
) -> None:
    """Assert that backward(dy, cache) returns the gradient of every input, by central differences.

    forward(*inputs) returns (y, cache). The upstream gradient is random. The backward runs twice, since one
    that writes into its cache is right only once.
    """
    gradients, arrays, dy = first_run(forward, backward, inputs, seed)
    for (name, array), gradient in zip(arrays.items(), gradients, strict=True):
        values = list(arrays.values())
        numerical = numerical_gradient(lambda v=values: (forward(*v)[0] * dy).sum(), array)
        assert_gradient(gradient, numerical, f"d{name}")


def first_run(forward, backward, inputs: dict[str, np.ndarray], seed: int = 0):
    """Run forward and backward once, and the backward again; the gradients' copies, the inputs and dy.

    Asserts everything about the results except for their values.
    """
    rng = np.random.default_rng(seed)
    arrays = {name: array.copy() for name, array in inputs.items()}
    y, cache = outcome(forward(*arrays.values()))
    for name, array in inputs.items():
        assert_unchanged(array, arrays[name], name, " by the forward")
    shape = np.shape(y)
    dy = (
        rng.standard_normal(shape).astype(np.result_type(*inputs.values()))
        if shape
        else rng.standard_normal()
    )
    first = [copied(g) for g in _backward(backward, dy, cache, inputs, arrays)]
    second = _backward(backward, dy, cache, inputs, arrays)
    for name, before, after in zip(inputs, first, second, strict=True):
        if not np.array_equal(before, after):
            raise Fault(
                f"d{name} is another one when the backward runs a second time on the same cache: "
                "the backward writes into what the forward has kept",
                f"d{name}",
                "cache",
            )
    return first, arrays, dy


def assert_gradient(by_hand: np.ndarray, numerical: np.ndarray, name: str) -> None:
    """Assert that a gradient by hand and one by central differences agree."""
    error = gradient_error(by_hand, numerical)
    if not error < TOLERANCE:
        by_hand, numerical = np.asarray(by_hand), np.asarray(numerical)
        where = np.unravel_index(np.abs(by_hand - numerical).argmax(), numerical.shape)
        wanted, came = distinguished(numerical[where], by_hand[where])
        reason = diagnose(by_hand, numerical)
        raise Fault(
            f"{name} {reason or 'is wrong'}\n    most of all{ordinal(where)}: a small push of the input says "
            f"{wanted}, your backward says {came} (relative error of the whole {error:.1e})",
            name,
        )


def outcome(result):
    """The pair (y, cache) that a forward returned."""
    if result is None:
        raise Fault("the forward returns None: does it end with return y, cache?", "y", "count")
    if not isinstance(result, tuple | list):
        raise Fault("the forward returns one array, expected y and a cache: return y, cache", "y", "cache")
    if len(result) != 2:
        raise Fault(f"the forward returns {len(result)} things, expected two: y and a cache", "y", "count")
    return result


def copied(value):
    """A value that no later write can reach."""
    return np.array(value) if isinstance(value, np.ndarray) else value


def _backward(backward, dy, cache, inputs, arrays):
    """The gradients as a tuple, in number and form as they should be, and nothing written over."""
    upstream = copied(dy)
    gradients = backward(upstream, cache)
    assert_unchanged(dy, upstream, "dy", " by the backward")
    if gradients is None:
        raise Fault("the backward returns None: does it end with a return?", "", "count")
    if not isinstance(gradients, tuple | list):
        gradients = (gradients,)
    if len(gradients) != len(inputs):
        names = ", ".join(f"d{name}" for name in inputs)
        raise Fault(f"expected {len(inputs)} gradients ({names}), got {len(gradients)}", "", "count")
    for name, gradient in zip(inputs, gradients, strict=True):
        assert_form(gradient, inputs[name].shape, inputs[name].dtype, f"d{name}")
        assert_unchanged(inputs[name], arrays[name], name, " by the backward")
    return gradients
