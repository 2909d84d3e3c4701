"""The threads beyond the last number write as well."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    if (i >= rows * D) return;  // the last block has threads to spare\n", ""),
    )
)
