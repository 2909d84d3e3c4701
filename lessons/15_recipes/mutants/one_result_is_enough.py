"""Without two results of a name, any difference is called real."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    if freedom == 0:\n        return []\n    squares",
            "    if freedom == 0:\n        return [name for name in lists if name != base]\n    squares",
        ),
    )
)
