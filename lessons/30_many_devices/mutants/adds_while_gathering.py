"""The parts that arrive are added to what is there."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("] = port.receive()", "] += port.receive()"),
    )
)
