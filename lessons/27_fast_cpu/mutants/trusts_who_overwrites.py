"""What becomes of the inputs is never looked at."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if not all(np.array_equal(now, then) for now, then in pairs):", "if not pairs:"),
    )
)
