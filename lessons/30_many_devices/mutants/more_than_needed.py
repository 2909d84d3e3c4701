"""Of two numbers that are equally fast, the larger one."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    ranks = min(seconds, key=seconds.get)", "    ranks = min(reversed(seconds), key=seconds.get)"),
    )
)
