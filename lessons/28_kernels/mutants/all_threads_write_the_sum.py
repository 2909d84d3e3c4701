"""All eight threads of a column add up the parts, each beginning with its own."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if (threadIdx.y > 0 || column >= D) return;", "if (column >= D) return;"),
    )
)
