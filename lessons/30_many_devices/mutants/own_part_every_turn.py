"""A rank sends its own part in every turn, and hands nothing on."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    for turn in range(port.size - 1):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]])",
            "    for turn in range(port.size - 1):\n        port.send(flat[cuts[port.rank]])",
        ),
    )
)
