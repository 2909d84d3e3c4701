"""There is no barrier between loading a tile and reading it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        __syncthreads();  // the tile is there\n", ""),
    )
)
