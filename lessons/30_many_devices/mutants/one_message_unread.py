"""A last message is sent that nobody receives."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("] += port.receive()", "] += port.receive()\n    port.send(flat[cuts[port.rank]])"),
    )
)
