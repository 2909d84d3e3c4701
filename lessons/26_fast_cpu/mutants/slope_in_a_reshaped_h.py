"""The pieces are cut from h made contiguous, which copies a view."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    R, M = h.shape\n", "    R, M = h.shape\n    h = np.ascontiguousarray(h)\n"),
    )
)
