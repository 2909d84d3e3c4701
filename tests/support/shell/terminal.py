"""A terminal in memory: a stream that claims to be one, what stands on its screen, and a clock."""

import errno
import io
import re

ESCAPE_CODE = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


class Stream(io.TextIOWrapper):
    """A text stream in memory, in an encoding, that may claim to be a terminal."""

    def __init__(self, terminal, encoding="utf-8"):
        super().__init__(io.BytesIO(), encoding=encoding, newline="")
        self._terminal = terminal

    def isatty(self):
        return self._terminal

    @property
    def text(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


class Unread(io.StringIO):
    """A stream that nobody reads after the line with a certain text; like a pipe, it notices when flushed."""

    def __init__(self, last):
        super().__init__()
        self._last = last

    def flush(self):
        unread = self.getvalue().partition(self._last)[2].partition("\n")[2]
        if unread:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")


class Clock:
    """Time that passes only when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def screen(text, columns):
    """The rows that a terminal of this width shows after text; fails if a row ran past the edge."""
    rows, column = [""], 0
    for sign in ESCAPE_CODE.sub("", text):
        if sign == "\n":
            rows.append("")
            column = 0
        elif sign == "\r":
            column = 0
        else:
            assert column < columns, f"wraps at {columns} columns after {rows[-1]!r}"
            rows[-1] = rows[-1][:column].ljust(column) + sign + rows[-1][column + 1 :]
            column += 1
    return [row.rstrip() for row in rows]
