"""Calls are compared with each other, none with the whole batch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "if abs(loss - right) > 1e-9 or np.abs(table.flat - expected.flat).max() > 1e-9:",
            "if not np.isfinite(loss):",
        ),
    )
)
