"""There is no barrier between reading a tile and loading the next."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        __syncthreads();  // all are done with the tile\n", ""),
    )
)
