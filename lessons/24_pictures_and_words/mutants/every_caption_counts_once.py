"""Every different caption counts once, however often it comes."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("for caption in captions", "for caption in twins"),
    )
)
