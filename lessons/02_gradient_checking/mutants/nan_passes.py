"""A comparison with NaN is false, so NaN is not called wrong."""

from pathlib import Path

from lessons.mutation import changed

SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        (
            "if not gradient_error(by_hand, numerical) < TOLERANCE:",
            "if np.abs(by_hand - numerical).max() >= TOLERANCE:",
        ),
    )
)
