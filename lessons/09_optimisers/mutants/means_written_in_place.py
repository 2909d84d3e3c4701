"""m and v are updated in place, in the caller's arrays."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    m = b1 * m + (1 - b1) * g  #", "    m *= b1\n    m += (1 - b1) * g  #"),
    )
)
