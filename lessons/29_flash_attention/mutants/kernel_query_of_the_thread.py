"""The query is the number of the thread within its block: every block does the same queries."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("const int query = blockIdx.x * blockDim.x + threadIdx.x;", "const int query = threadIdx.x;"),
    )
)
