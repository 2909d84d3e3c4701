"""The sum is divided by the number of ranks."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("] += port.receive()", "] += port.receive()\n    flat /= port.size"),
    )
)
