"""Rules that claim to tell a difference between two lists of results from chance, for trust_comparison.

decide(first, second) -> bool. RIGHT ones cry wolf in at most 5 % of comparisons; WRONG ones do not keep to
that, or miss what is plain.
"""

import math
from importlib import import_module

import numpy as np

_SOLUTION = import_module("lessons.16_scaling.solution")
_ONE_PERCENT = {1: 63.66, 2: 9.925, 3: 5.841, 4: 4.604, 5: 4.032, 6: 3.707, 7: 3.499, 8: 3.355, 9: 3.250}
_ONE_PERCENT |= {10: 3.169, 11: 3.106, 12: 3.055, 13: 3.012, 14: 2.977, 15: 2.947, 16: 2.921, 17: 2.898}


def _distance(first, second, ddof=1):
    """How far apart the means are, in standard errors estimated from both lists."""
    n, m = len(first), len(second)
    squares = n * np.var(first) + m * np.var(second)
    error = math.sqrt(squares / (n + m - 2 * ddof) * (1 / n + 1 / m))
    return abs(np.mean(first) - np.mean(second)) / error


def _strict(first, second):
    freedom = len(first) + len(second) - 2
    return bool(_distance(first, second) > _ONE_PERCENT.get(freedom, 2.9))


def _limit(first, second):
    return _SOLUTION.LIMITS[min(len(first) + len(second) - 2, 30)]


def _two_standard_errors(first, second):
    return bool(_distance(first, second) > 2)


def _no_overlap(first, second):
    return max(first) < min(second) or max(second) < min(first)


def _squares_over_n(first, second):
    return bool(_distance(first, second, ddof=0) > _limit(first, second))


def _spread_of_the_first(first, second):
    error = np.std(first, ddof=1) * math.sqrt(1 / len(first) + 1 / len(second))
    return bool(abs(np.mean(first) - np.mean(second)) > _limit(first, second) * error)


def _as_many_of_either(first, second):
    squares = len(first) * np.var(first) + len(second) * np.var(second)
    freedom = len(first) + len(second) - 2
    error = math.sqrt(squares / freedom * 2 / max(len(first), len(second)))
    return bool(abs(np.mean(first) - np.mean(second)) > _limit(first, second) * error)


def _one_point(first, second):
    return bool(abs(np.mean(first) - np.mean(second)) > 0.01)


def _only_upwards(first, second):
    return bool(np.mean(second) > np.mean(first)) and _SOLUTION.is_difference(first, second)


def _never(first, second):
    return False


RIGHT = {"at 5 %": _SOLUTION.is_difference, "at 1 %": _strict}
WRONG = {
    "two standard errors, however few the seeds": _two_standard_errors,
    "the results do not overlap": _no_overlap,
    "squares divided by their number": _squares_over_n,
    "only the spread of the first list": _spread_of_the_first,
    "both lists taken to be as long as the longer": _as_many_of_either,
    "more than one point, whatever the spread": _one_point,
    "only if the second is better": _only_upwards,
    "never a difference": _never,
}
