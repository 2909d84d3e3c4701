"""A tall matrix is turned, and never turned back."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    return x.T if is_tall else x", "    return x"),
    )
)
