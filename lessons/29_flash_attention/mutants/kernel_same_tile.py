"""Every tile loads the first keys again."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("real ? k[first * K + i] : 0", "real ? k[i] : 0"),
        ("real ? v[first * K + i] : 0", "real ? v[i] : 0"),
    )
)
