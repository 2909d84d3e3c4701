"""numpy.allclose with its own tolerances, which are ten times too generous."""

from pathlib import Path

from lessons.mutation import changed

SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        ("if not gradient_error(by_hand, numerical) < TOLERANCE:", "if not np.allclose(by_hand, numerical):"),
    )
)
