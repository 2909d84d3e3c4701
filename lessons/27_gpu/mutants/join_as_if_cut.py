"""The two halves are put side by side, as if the shadow had never been rounded up."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("upper = shadow - (rest >> np.uint16(15))", "upper = shadow"),
    )
)
