"""The base is listed if anything is."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    return found\n", "    return [base, *found] if found else found\n"),
    )
)
