"""Two of the three runs are taken for each other."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            '"A": "only the head is trained",\n        "B": "labels shuffled in every step",',
            '"A": "labels shuffled in every step",\n        "B": "only the head is trained",',
        ),
    )
)
