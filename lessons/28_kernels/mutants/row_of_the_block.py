"""The row is the number of the block, though a block may have several warps."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;\n"
            "    if (row >= rows) return;  // the",
            "const int row = blockIdx.x;\n    if (row >= rows) return;  // the",
        ),
    )
)
