"""tied: both uses of the weight are thought to send the same gradient, so one is counted twice."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("x_rows.T @ dcode_rows + dy_rows.T @ code_rows", "2 * x_rows.T @ dcode_rows"),
    )
)
