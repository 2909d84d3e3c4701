"""The one exception that means: the person who ran this can fix it."""


class UserError(Exception):
    """Something the user gave cannot be used.

    The message is one line that names what is wrong, what was expected and what to do. Commands print it
    without a traceback and end with exit status 2.
    """
