"""The queries of a piece ask only the keys of the same piece."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("q[:, asking] @ k.swapaxes", "q[:, asking] @ k[:, asking].swapaxes"),
        ("dy[:, asking] @ v.swapaxes(-1, -2), A", "dy[:, asking] @ v[:, asking].swapaxes(-1, -2), A"),
        ("= dS @ k\n", "= dS @ k[:, asking]\n"),
        ("dk += dS", "dk[:, asking] = dS"),
        ("dv += A", "dv[:, asking] = A"),
    )
)
