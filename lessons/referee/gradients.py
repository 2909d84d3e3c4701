"""Backward passes against central differences."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from lessons.referee import calls
from lessons.referee.calls import outcome
from lessons.referee.diagnosis import diagnose
from lessons.referee.fault import Fault, distinguished, ordinal, said
from lessons.referee.rerun import compared, differences
from lessons.referee.supposed import supposed
from lessons.referee.values import assert_form, assert_unchanged
from tinyvit.gradcheck import TOLERANCE, gradient_error

MOST_NAMES = 6  # of gradients that are right, told with one that is wrong


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
    gradients, numerical = run_backward(forward, backward, inputs, seed)
    got = {f"d{name}": gradient for name, gradient in gradients.items()}
    if compared(got):
        return
    latest = dict(calls.RECENT)
    wrong = [name for name in gradients if not gradient_error(gradients[name], numerical(name)) < TOLERANCE]
    if not wrong:
        return
    right = [f"d{name}" for name in gradients if name not in wrong]
    seen = {"got": got, "wrong": [f"d{name}" for name in wrong]}
    every = {name: numerical(name) for name in inputs}
    calls.RECENT.clear()
    calls.RECENT.update(latest)  # without the pushes of the central differences
    for name in wrong:
        others = {f"d{other}": array for other, array in every.items() if other != name}
        if reason := diagnose(gradients[name], every[name], f"d{name}", others):
            compare(gradients[name], every[name], f"d{name}", reason, **seen)
    name = wrong[0]
    reason = supposed(gradients[name], lambda arrays: numerical(name, arrays), _float64(inputs))
    if not reason:
        reason = f"is wrong, {_listed(right)} right" if 0 < len(right) <= MOST_NAMES else "is wrong"
    compare(gradients[name], every[name], f"d{name}", reason, **seen)


def assert_gradient(by_hand: np.ndarray, numerical: np.ndarray, name: str) -> None:
    """Assert that a gradient by hand and one by central differences agree."""
    if compared({name: np.asarray(by_hand)}):
        return
    if not gradient_error(by_hand, numerical) < TOLERANCE:
        reason = diagnose(np.asarray(by_hand), np.asarray(numerical), name, {}) or "is wrong"
        compare(by_hand, numerical, name, reason)


def compare(by_hand, numerical, name: str, reason: str, got=None, wrong=()) -> None:
    """Assert that two gradients agree; if not, the reason is the end of the sentence that says so.

    got has all gradients that came together with this one, and wrong the names of those that are.
    """
    error = gradient_error(by_hand, numerical)
    if error < TOLERANCE:
        return
    by_hand, numerical = np.asarray(by_hand), np.asarray(numerical)
    where = np.unravel_index(np.abs(by_hand - numerical).argmax(), numerical.shape)
    wanted, came = distinguished(numerical[where], by_hand[where])
    raise Fault(
        f"{said(name, reason)}\n    most of all{ordinal(where)}: a small push of the input says {wanted}, "
        f"your backward says {came} (relative error of the whole {error:.1e})",
        name,
        got=got or by_hand,
        wrong=wrong,
    )


def run_backward(forward, backward, inputs: dict[str, np.ndarray], seed: int = 0):
    """Run the forward, and the backward twice; the gradients by name, and what gives the numerical ones.

    Asserts everything about the results except for their values.
    """
    rng = np.random.default_rng(seed)
    arrays = {name: array.copy() for name, array in inputs.items()}
    y, cache = outcome(forward(*arrays.values()))
    for name, array in inputs.items():
        assert_unchanged(array, arrays[name], name, " by the forward")
    dy = rng.standard_normal()  # a plain number, so that it leaves float32 as it is
    if np.shape(y):
        dy = rng.standard_normal(np.shape(y)).astype(np.result_type(*inputs.values()))

    known: dict[str, np.ndarray] = {}

    def numerical(name: str, other_inputs: dict[str, np.ndarray] | None = None) -> np.ndarray:
        if other_inputs is None and name in known:
            return known[name]
        values = _float64(other_inputs or inputs)
        found = differences(lambda: (forward(*values.values())[0] * dy).sum(), values[name])
        return found if other_inputs else known.setdefault(name, found)

    def gradients() -> dict[str, np.ndarray]:
        upstream = copied(dy)
        found = named(backward(upstream, cache), inputs)
        assert_unchanged(dy, upstream, "dy", " by the backward")
        for name, gradient in found.items():
            assert_form(
                gradient,
                inputs[name].shape,
                inputs[name].dtype,
                f"d{name}",
                lambda name=name: numerical(name),
            )
            assert_unchanged(inputs[name], arrays[name], name, " by the backward")
        return found

    first = {name: copied(gradient) for name, gradient in gradients().items()}
    for name, again in gradients().items():
        if not _same(again, first[name]):
            raise Fault(
                f"d{name} is another one when the backward runs a second time on the same cache: "
                "the backward writes into what the forward has kept, or draws random numbers anew",
                f"d{name}",
                "cache",
            )
    latest = dict(calls.RECENT)
    _run_on_others(forward, inputs)
    _assert_alone(first, lambda: named(backward(copied(dy), cache), inputs))
    calls.RECENT.clear()
    calls.RECENT.update(latest)
    return first, numerical


def _run_on_others(forward, inputs: dict[str, np.ndarray]) -> None:
    """Run the forward a second time, on twice as many other numbers if it takes them."""
    first, *rest = inputs
    others = {name: 0.9 * array + np.asarray(0.1, array.dtype) for name, array in inputs.items()}
    if np.ndim(inputs[first]):
        with suppress(Exception):  # it may have one number of rows alone, or refuse what does not fit
            twice = np.concatenate([others[first], others[first]])
            forward(twice, *(others[name].copy() for name in rest))
            return
    with suppress(Exception):
        forward(*others.values())


def _assert_alone(first: dict[str, np.ndarray], again: Callable[[], dict[str, np.ndarray]]) -> None:
    """Assert that the backward still gives the first gradients after another forward has run."""
    try:
        second = again()
    except Exception as error:  # whatever comes of another's cache
        second, crash = {}, f": it ends with {type(error).__name__}: {error}"
    else:
        crash = ""
    for name, gradient in first.items():
        if name not in second or not _same(gradient, second[name]):
            raise Fault(
                f"d{name} depends on the latest forward, and not on the cache alone: after a forward on "
                f"another input it is another one{crash}. Nothing may be kept in a global variable or in an "
                "attribute of the function",
                f"d{name}",
                "kept",
            )


def _same(one, other) -> bool:
    """True if two gradients are the same but for rounding."""
    if np.shape(one) != np.shape(other):
        return False
    return np.allclose(one, other, rtol=1e-5, atol=1e-5 * np.abs(one).max(initial=0))


def several(function: Callable, names: tuple[str, ...], *arguments, **more):
    """The results of the function for the arguments, of which there is to be one for each name."""
    got = function(*arguments, **more)
    if not isinstance(got, tuple | list) or len(got) != len(names):
        expected = f"{len(names)} results: {', '.join(names)}"
        raise Fault(f"{function.__name__} does not return {expected}", kind="count")
    return got


def named(gradients, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The gradients that a backward returned, by the names of the inputs: one for each."""
    names = ", ".join(f"d{name}" for name in inputs)
    if gradients is None:
        raise Fault(f"the backward returns None, expected {names}: does it end with a return?", "", "count")
    if not isinstance(gradients, tuple | list):
        gradients = (gradients,)
    if len(gradients) != len(inputs):
        expected = f"{len(inputs)} gradients ({names})" if len(inputs) > 1 else f"one gradient ({names})"
        raise Fault(f"the backward returns {len(gradients)} things, expected {expected}", "", "count")
    return dict(zip(inputs, gradients, strict=True))


def _float64(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.array(array, np.float64) for name, array in inputs.items()}


def _listed(names: list[str]) -> str:
    """The names with a verb: dx is; dx and dbias are."""
    if len(names) == 1:
        return f"and {names[0]} is"
    return f"and {', '.join(names[:-1])} and {names[-1]} are"


def copied(value):
    """A value that no later write can reach."""
    return np.array(value) if isinstance(value, np.ndarray) else value
