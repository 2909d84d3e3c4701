"""Checks of the learner's own gradient checks: is the right suspect named, is a wrong backward distrusted?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lessons.referee.fault import Fault
from tinyvit.gradcheck import TOLERANCE, check_gradients

LARGE = 1e-3  # a backward that is off by this much is wrong beyond any rounding
MOST = 2000  # numbers: central differences over more would take too long


def assert_exposed(answer, suspects: dict[str, tuple[Callable, Callable]], guilty: str | None = None) -> None:
    """Assert that (name, inputs) names the one backward that is wrong, with inputs on which it shows.

    suspects: name -> (forward, backward). The backward named must be off on these inputs, every other right.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 2 or not isinstance(answer[0], str):
        raise Fault(
            "return two things: the name of the suspect (a str), and inputs that expose it", kind="count"
        )
    name, inputs = answer
    if name not in suspects:
        raise Fault(f"there is no suspect {name!r}; they are {', '.join(map(repr, suspects))}", "name")
    if isinstance(inputs, np.ndarray):
        inputs = (inputs,)
    inputs = [np.asarray(x) for x in inputs]
    _assert_usable(inputs)
    errors = {each: _error(*pair, inputs) for each, pair in suspects.items()}
    others = {each: error for each, error in errors.items() if each != name}
    if errors[name] < TOLERANCE and all(error < TOLERANCE for error in others.values()):
        raise Fault(
            f"on your inputs every suspect's backward is right, that of {name!r} too: they expose nobody",
            "inputs",
        )
    if all(error >= TOLERANCE for error in errors.values()):
        raise Fault(
            "on your inputs every suspect differs from its central differences: the numbers are too extreme, "
            "or some are equal where a maximum is taken (different numbers, of size 0.1 to 10 and of either "
            "sign, are best)",
            "inputs",
        )
    if errors[name] < LARGE:
        raise Fault(
            f"on your inputs the backward of {name!r} is right (relative error {errors[name]:.1e}), "
            "and not everyone's is: somebody else is guilty",
            "name",
        )
    for each, error in others.items():
        if error >= TOLERANCE:
            raise Fault(
                f"on your inputs {name!r} is wrong, but {each!r} is off as well ({error:.1e})", "inputs"
            )


def assert_trust(
    check: Callable, right, wrong: dict[str, tuple[Callable, Callable]], suspect: str = "backward"
) -> None:
    """Assert that check(forward, backward) returns True for the right pair and False for every wrong one.

    right is a pair, or a dict of pairs by name. suspect is what the messages call that which is checked.
    """
    suspect = f"{'an' if suspect[0] in 'aeiou' else 'a'} {suspect}"
    pairs = right if isinstance(right, dict) else {"": right}
    for name, pair in pairs.items():
        if not _verdict(check, pair):
            raise Fault(f"your check distrusts {suspect} that is right{name and f': {name}'}", "right")
    trusted = [name for name, pair in wrong.items() if _verdict(check, pair)]
    if len(trusted) == len(wrong) > 1:
        raise Fault(f"your check trusts every one of {len(wrong)} that are wrong: does it ever return False?")
    if trusted:
        rest = f" (and {len(trusted) - 1} more)" if len(trusted) > 1 else ""
        raise Fault(f"your check trusts {suspect} that is wrong: {trusted[0]}{rest}", trusted[0])


def _verdict(check, pair) -> bool:
    verdict = check(*pair)
    if not isinstance(verdict, bool | np.bool_):
        returned = "None" if verdict is None else f"a {type(verdict).__name__}"
        raise Fault(f"your check returns {returned}, expected True or False", kind="count")
    return bool(verdict)


def _assert_usable(inputs) -> None:
    for number, x in enumerate(inputs):
        if x.dtype != np.float64:
            raise Fault(f"input {number} is {x.dtype}, expected float64", "inputs", "count")
        if not np.isfinite(x).all():
            raise Fault(f"input {number} has a number that is not finite", "inputs", "finite")
    if sum(x.size for x in inputs) > MOST:
        raise Fault(f"the inputs have more than {MOST} numbers: a few dozen are enough", "inputs", "shape")


def _error(forward, backward, inputs) -> float:
    """The largest relative error of any gradient, for three random upstream gradients."""
    worst = 0.0
    for seed in range(3):
        arrays = [np.array(x) for x in inputs]
        try:
            worst = max(worst, *check_gradients(forward, backward, arrays, np.random.default_rng(seed)))
        except (ValueError, TypeError, IndexError) as error:
            raise Fault(f"the suspects cannot run on your inputs: {error}", "inputs", "shape") from error
    return worst
