"""The referee of the lessons: compares an answer with what it should be, and says what is the matter."""

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
