"""The average is written into the array that was handed over."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    return now * average + (1 - now) * weights",
            "    average *= now\n    average += (1 - now) * weights\n    return average",
        ),
    )
)
