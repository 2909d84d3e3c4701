"""The images have no negative numbers, as after a ReLU, and nobody is exposed."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("-np.random", "np.random"),
    )
)
