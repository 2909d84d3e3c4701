"""Everything that is asked of an operation: gradients, dtypes, and nobody else's arrays written over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lessons.referee.fault import Fault
from lessons.referee.gradients import assert_gradients, copied, named, outcome, run_backward
from lessons.referee.values import assert_form


def assert_operation(
    forward: Callable,
    backward: Callable,
    cases: dict[str, dict[str, np.ndarray]],
    may_share: bool = False,
) -> None:
    """Assert that forward and backward are right for every case: dict label -> dict name -> float64 array.

    For each, the gradients (assert_gradients); then everything in float32: the dtype of every result, and no
    result that shares its memory with an input, since whoever writes to one would change the other. With
    may_share, the forward may return a view of an input.
    """
    for label, inputs in cases.items():
        try:
            assert_gradients(forward, backward, inputs)
            single = {name: array.astype(np.float32) for name, array in inputs.items()}
            _assert_float32(forward, backward, single, may_share)
        except Fault as fault:
            if len(cases) == 1:
                raise
            first, *rest = str(fault).split("\n")
            message = "\n".join([f"{first}\n    in the case {label!r}", *rest])
            raise Fault(message, fault.name, fault.kind, fault.got, fault.wrong) from None


def _assert_float32(forward, backward, inputs, may_share):
    run_backward(forward, backward, inputs)  # asserts the gradients' dtype
    arrays = {name: array.copy() for name, array in inputs.items()}
    y, cache = outcome(forward(*arrays.values()))
    if isinstance(y, np.ndarray):
        assert_form(y, y.shape, np.dtype(np.float32), "y")
    results = {} if may_share else {"y": y}
    dy = np.ones_like(y) if isinstance(y, np.ndarray) else 1.0
    results |= {f"d{name}": gradient for name, gradient in named(backward(copied(dy), cache), inputs).items()}
    for result, values in results.items():
        for name, array in arrays.items():
            if isinstance(values, np.ndarray) and np.may_share_memory(values, array):
                raise Fault(
                    f"{result} shares its memory with {name}: whoever writes to one changes the other; "
                    "return a new array",
                    result,
                    "inplace",
                )
