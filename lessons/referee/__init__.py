"""The referee of the lessons: compares an answer with what it should be, and says what is the matter.

It judges any gradient by hand. A forward returns its result and a cache, a backward the gradients:

    >>> import numpy as np
    >>> from lessons.referee import assert_operation
    >>> def square(x):
    ...     return x * x, x
    >>> def square_backward(dy, x):
    ...     return dy * x
    >>> x = np.random.default_rng(0).normal(size=(3, 4))
    >>> assert_operation(square, square_backward, {"three rows": {"x": x}})
    Traceback (most recent call last):
    lessons.referee.fault.Fault: dx is 2 times too small everywhere
    ...
"""

from lessons.referee.diagnosis import diagnose
from lessons.referee.fault import Fault
from lessons.referee.gradients import assert_gradient, assert_gradients
from lessons.referee.operations import assert_operation
from lessons.referee.suspects import assert_exposed, assert_trust
from lessons.referee.values import assert_same, assert_untouched

__all__ = [
    "Fault",
    "assert_exposed",
    "assert_gradient",
    "assert_gradients",
    "assert_operation",
    "assert_same",
    "assert_trust",
    "assert_untouched",
    "diagnose",
]
