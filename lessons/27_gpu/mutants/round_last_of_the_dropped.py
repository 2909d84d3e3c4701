"""The bit that decides a tie is the first that is dropped, not the last that is kept."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "last = (pattern >> dropped) & np.uint32(1)",
            "last = (pattern >> (dropped - np.uint32(1))) & np.uint32(1)",
        ),
    )
)
