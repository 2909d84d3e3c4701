"""The check does not look at the matrix that it handed over."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (" or not np.array_equal(given, kept)", ""),
        ("            x = orthogonalise(given)", "            x = orthogonalise(kept)"),
    )
)
