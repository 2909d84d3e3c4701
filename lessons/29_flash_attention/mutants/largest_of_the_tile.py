"""The largest is that of the latest tile, and what came before is blown up."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("now = np.maximum(largest, S.max(axis=1, keepdims=True))", "now = S.max(axis=1, keepdims=True)"),
    )
)
