"""rms_norm: what comes back through r is spread over all numbers of the row."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dx[..., :first] -= head * r**3", "dx -= x * r**3"),
    )
)
