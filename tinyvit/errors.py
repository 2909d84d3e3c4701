"""The exception for mistakes that the user can fix, and text that is safe to print."""

import re

# Control characters, which a terminal obeys, ends of lines, and characters that turn the direction of text.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONGEST, _HEAD, _TAIL = 2000, 1300, 600  # characters of a message, and what is kept of a longer one


class UserError(ValueError):
    """Something that the user supplied cannot be used.

    The message is one line that says what is wrong, what was expected and what to do. Commands print it
    without a traceback and exit with status 2. It is a ValueError, so that programs that use tinyvit as a
    library need to know no exception but Python's own.

    Messages quote names and reasons from files and servers, which may be hostile: they are made printable,
    and the middle of a very long message is left out.
    """

    def __init__(self, message: str):
        line = printable(" ".join(message.splitlines()))
        super().__init__(line if len(line) <= _LONGEST else f"{line[:_HEAD]} ... {line[-_TAIL:]}")


def printable(text: str) -> str:
    """The text on one line, with every character that a terminal would obey written out, such as \\x1b."""
    return _OBEYED.sub(lambda found: repr(found[0])[1:-1], text)
