"""The index is the thread's number within its block: every block does the same."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("const int i = blockIdx.x * blockDim.x + threadIdx.x;", "const int i = threadIdx.x;"),
    )
)
