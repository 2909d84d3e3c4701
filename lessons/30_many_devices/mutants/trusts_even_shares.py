"""Only batches that the ranks can share evenly are tried."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "(6, 3, 5.0), (7, 3, 5.0), (7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)",
            "(6, 3, 5.0), (6, 3, 0.3), (5, 1, 0.7)",
        ),
    )
)
