"""The exception for mistakes that the user can fix."""


class UserError(ValueError):
    """Something that the user supplied cannot be used.

    The message is one line that says what is wrong, what was expected and what to do. Commands print it
    without a traceback and exit with status 2. It is a ValueError, so that programs that use tinyvit as a
    library need to know no exception but Python's own.
    """
