"""What a check raises: an AssertionError that knows which result is at fault and how."""

from __future__ import annotations


class Fault(AssertionError):  # noqa: N818 - the fault is the learner's, not the program's
    """A wrong answer. `name` is the result at fault.

    `kind` is one of values, shape, dtype, finite, inplace, cache, count.

    The hint of a check that is shown is the one given for this name, or else for this kind.
    """

    def __init__(self, message: str, name: str = "", kind: str = "values"):
        super().__init__(message)
        self.name, self.kind = name, kind


def ordinal(index: tuple) -> str:
    """Where in an array: " at (1, 2)", and nothing for a single number."""
    return f" at {tuple(map(int, index))}" if len(index) else ""


def distinguished(expected: float, got: float) -> tuple[str, str]:
    """Both numbers with at least six digits, and with as many as it takes for them to look different."""
    for digits in range(6, 18):
        shown = f"{expected:.{digits}g}", f"{got:.{digits}g}"
        if shown[0] != shown[1]:
            break
    return shown
