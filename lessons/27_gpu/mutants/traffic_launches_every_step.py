"""A launch is counted for every step."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("return len(kernels), moved", "return sum(map(len, kernels)), moved"),
    )
)
