"""What the optimiser writes to is a copy."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("update(w[own], g[own])", "update(w[own].copy(), g[own])"),
    )
)
