"""The polynomial is applied to the gradient as it is."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    x = x / max(float(np.linalg.norm(x)), 1e-7)\n", "    x = x.copy()\n"),
    )
)
