"""The images come in the order of the data set."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("rng.permutation(count), 0.0", "np.arange(count), 0.0"),
    )
)
