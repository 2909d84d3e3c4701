"""What arrives takes the place of the rank's own numbers."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("] += port.receive()", "] = port.receive()"),
    )
)
