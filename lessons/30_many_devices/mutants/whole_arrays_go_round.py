"""The arrays of all ranks go round as a whole, and each rank adds them up by itself."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    for turn in range(1, port.size):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]])\n"
            "        flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()",
            "    passing = flat.copy()\n"
            "    for _ in cuts[1:]:\n"
            "        port.send(passing)\n"
            "        passing = port.receive()\n"
            "        flat += passing",
        ),
    )
)
