"""All that a rank knows so far is sent in every turn."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    for turn in range(port.size - 1):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]])\n"
            "        flat[cuts[(port.rank - turn - 1) % port.size]] = port.receive()",
            "    for turn in range(port.size - 1):\n"
            "        port.send(flat)\n"
            "        cut = cuts[(port.rank - turn - 1) % port.size]\n"
            "        flat[cut] = port.receive()[cut]",
        ),
    )
)
