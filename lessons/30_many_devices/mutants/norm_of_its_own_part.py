"""Each rank shortens its part to `largest` by the norm of the part."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    reduce_scatter(squares, port)\n    all_gather(squares, port)\n", ""),
    )
)
