"""The norm is that of the largest entry, so that singular values may start above 1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float(np.linalg.norm(x))", "float(abs(x).max())"),
    )
)
