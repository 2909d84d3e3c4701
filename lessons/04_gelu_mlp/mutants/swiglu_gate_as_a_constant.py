"""swiglu: the slope of the gate itself is left out, as if it were a constant."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("b * (gate + a * gate * (1 - gate))", "b * gate"),
    )
)
