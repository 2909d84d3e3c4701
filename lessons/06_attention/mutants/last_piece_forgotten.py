"""The tokens that do not fill a piece are left out."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("range(0, q.shape[1], piece)", "range(0, q.shape[1] - piece + 1, piece)"),
        ("np.empty_like(q)", "np.zeros_like(q)"),
    )
)
