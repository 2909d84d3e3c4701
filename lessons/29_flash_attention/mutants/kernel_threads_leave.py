"""Threads without a query leave before the barriers."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    float largest = -1e30f, total = 0;",
            "    if (query >= N) return;\n    float largest = -1e30f, total = 0;",
        ),
    )
)
