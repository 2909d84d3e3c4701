"""The check looks at the vectors and not at the values."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            if not (values.min() > 0.6 and values.max() < 1.3):\n                return False\n",
            "",
        ),
    )
)
