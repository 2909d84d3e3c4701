"""The error that a check raises: an AssertionError that knows which result is at fault and how."""

from __future__ import annotations

import re


class Fault(AssertionError):  # noqa: N818 - the fault is the learner's, not the program's
    """A wrong answer. `name` is the result at fault.

    `kind` is one of values, shape, dtype, finite, inplace, cache, count; for a kernel also compile,
    race, bounds, uninitialised, waiting.

    The hint of a check that is shown is the one given for this kind, or else for this name. `got` is what
    came, an array or several by name, to be compared with what another answer gives; `wrong` are the names
    of those that are wrong.
    """

    def __init__(self, message: str, name: str = "", kind: str = "values", got=None, wrong=()):
        super().__init__(message)
        self.name, self.kind = name, kind
        self.got = got if isinstance(got, dict) else {} if got is None else {name: got}
        self.wrong = tuple(wrong) or (name,)


def ordinal(index: tuple) -> str:
    """The place in an array, in words: " at (1, 2)", and nothing for a single number."""
    return f" at {tuple(map(int, index))}" if len(index) else ""


def distinguished(expected: float, got: float) -> tuple[str, str]:
    """Both numbers with at least six digits, and with as many as it takes for them to look different."""
    for digits in range(6, 18):
        shown = f"{expected:.{digits}g}", f"{got:.{digits}g}"
        if shown[0] != shown[1]:
            break
    return shown


PLURAL = {"is": "are", "has": "have", "holds": "hold", "does": "do", "adds": "add", "changes": "change"}


def said(name: str, reason: str) -> str:
    """The sentence "name reason", with the verb in the plural where the name is: the scores are wrong."""
    verb, _, rest = reason.partition(" ")
    if _is_plural(name):
        verb, rest = PLURAL.get(verb, verb), re.sub(r"^the right one\b", "the right ones", rest)
    return f"{name} {verb} {rest}".rstrip()


def _is_plural(name: str) -> bool:
    if not name.startswith("the "):
        return False
    noun = re.split(r" (?:of|at|with|in|after|before|for|when|where|through|on|over|from|by)\b|,", name)[
        0
    ].split()[-1]
    return noun.endswith("s") and not noun.endswith(("ss", "bias", "axis", "patches of"))
