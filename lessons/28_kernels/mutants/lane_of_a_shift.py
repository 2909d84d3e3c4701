"""The exchange is a shift down, and the sum is read in the last lane."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "sum += __shfl_xor_sync(0xffffffff, sum, distance);\n    if (lane == 0)",
            "sum += __shfl_down_sync(0xffffffff, sum, distance);\n    if (lane == 31)",
        ),
    )
)
