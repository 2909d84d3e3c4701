"""The tanh is a quotient of exponentials, which overflow."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("tanhf(u)", "(expf(u) - expf(-u)) / (expf(u) + expf(-u))"),
    )
)
