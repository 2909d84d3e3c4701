"""tied: the weight gets the gradient of the decoder only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("x_rows.T @ dcode_rows + dy_rows.T @ code_rows", "dy_rows.T @ code_rows"),
    )
)
