"""What the checks of all lessons share: comparing an answer with what it should be, in an order that helps.

A message names the first thing that is wrong: the type, the shape, the dtype, numbers that are not finite,
and only then the values: where, what was expected, and what came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tinyvit.checking import TOLERANCE, gradient_error, numerical_gradient


def assert_same(got, expected, name: str = "the result", tolerance: float = 1e-9) -> None:
    """Assert that an array (or number) is what it should be, to tolerance relative to its largest value."""
    expected = np.asarray(expected)
    _assert_form(got, expected.shape, expected.dtype, name)
    got = np.asarray(got)
    if expected.dtype.kind == "f":
        distance, allowed = np.abs(got - expected), tolerance * max(1.0, np.abs(expected).max(initial=0))
    else:
        distance, allowed = (got != expected).astype(float), 0.0
    if distance.size and distance.max() > allowed:
        where = np.unravel_index(distance.argmax(), distance.shape)
        place = f" at {tuple(map(int, where))}" if where else ""
        raise AssertionError(f"{name} is wrong{place}: expected {expected[where]:.6g}, got {got[where]:.6g}")


def assert_gradients(
    forward: Callable,
    backward: Callable,
    inputs: dict[str, np.ndarray],
    seed: int = 0,
) -> None:
    """Assert that backward(dy, cache) returns the gradient of every input, by central differences.

    forward(*inputs) returns (y, cache). The upstream gradient is random.
    """
    rng = np.random.default_rng(seed)
    arrays = [array.copy() for array in inputs.values()]
    y, cache = forward(*arrays)
    assert_untouched(list(inputs.values()), arrays)
    dy = rng.standard_normal(np.shape(y))
    upstream = dy.copy()
    gradients = backward(upstream, cache)
    if not np.array_equal(upstream, dy):
        raise AssertionError(
            "dy was changed in place by the backward: make a new array (dx = dy * ..., not dy *= ...)"
        )
    if not isinstance(gradients, tuple | list):
        gradients = (gradients,)
    if len(gradients) != len(inputs):
        raise AssertionError(f"expected {len(inputs)} gradients ({_names(inputs)}), got {len(gradients)}")
    for array, name, gradient in zip(arrays, inputs, gradients, strict=True):
        _assert_form(gradient, array.shape, array.dtype, f"d{name}")
        numerical = numerical_gradient(lambda: (forward(*arrays)[0] * dy).sum(), array)
        assert_gradient(gradient, numerical, f"d{name}")


def assert_gradient(by_hand: np.ndarray, numerical: np.ndarray, name: str) -> None:
    """Assert that a gradient by hand and one by central differences agree."""
    error = gradient_error(by_hand, numerical)
    if not error < TOLERANCE:
        where = np.unravel_index(np.abs(by_hand - numerical).argmax(), numerical.shape)
        place = f" most of all at {tuple(map(int, where))}" if where else ""
        raise AssertionError(
            f"{name} is wrong,{place}: a small push of the input says {numerical[where]:.6g}, "
            f"your backward says {by_hand[where]:.6g} (relative error of the whole {error:.1e})"
        )


def assert_untouched(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> None:
    """Assert that a function left the arrays it was given as they were."""
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if not np.array_equal(old, new):
            raise AssertionError(
                f"input {number} was changed in place: make a new array (y = x - ..., not x -= ...)"
            )


def _assert_form(got, shape: tuple[int, ...], dtype: np.dtype, name: str) -> None:
    if got is None:
        raise AssertionError(f"{name} is None: does the function return it?")
    if not isinstance(got, np.ndarray | np.generic | float | int):
        raise AssertionError(f"{name} is a {type(got).__name__}, expected an array")
    if np.shape(got) != shape:
        raise AssertionError(f"{name} has shape {np.shape(got)}, expected {shape}")
    got_dtype = np.asarray(got).dtype
    if isinstance(got, np.ndarray) and got_dtype != dtype:
        rule = ": dtype in, dtype out" if dtype == np.float32 else ""
        raise AssertionError(f"{name} has dtype {got_dtype}, expected {dtype}{rule}")
    if not np.isfinite(got).all():
        bad = np.argwhere(~np.isfinite(np.asarray(got)))[0]
        raise AssertionError(f"{name} has a value that is not finite, first at {tuple(map(int, bad))}")


def _names(inputs: dict[str, np.ndarray]) -> str:
    return ", ".join(f"d{name}" for name in inputs)
