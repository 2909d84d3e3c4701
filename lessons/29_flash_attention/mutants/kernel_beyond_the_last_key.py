"""The last tile is read as if it were full, beyond the last key."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("real ? k[first * K + i] : 0", "k[first * K + i]"),
        ("real ? v[first * K + i] : 0", "v[first * K + i]"),
    )
)
