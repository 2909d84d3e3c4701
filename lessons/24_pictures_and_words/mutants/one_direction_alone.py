"""Only one of the two directions is thought to suffer from twins: half the loss."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float(np.mean(", "0.5 * float(np.mean("),
    )
)
