"""In the places beyond the last column stands 0 less the mean, and its square is added."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if (lane + 32 * i < D) squares", "squares"),
    )
)
