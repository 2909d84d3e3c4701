"""Each thread loads one number of the tile, and the rest is left as it is."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "for (int i = threadIdx.x; i < TILE * K; i += blockDim.x) {",
            "for (int i = threadIdx.x; i < TILE * K; i += TILE * K) {",
        ),
    )
)
