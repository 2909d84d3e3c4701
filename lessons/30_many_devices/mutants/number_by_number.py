"""Every number is a message of its own."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        port.send(flat[cuts[(port.rank - turn) % port.size]])\n"
            "        flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()",
            "        for number in flat[cuts[(port.rank - turn) % port.size]]:\n"
            "            port.send(np.array([number]))\n"
            "        grown = flat[cuts[(port.rank - turn - 1) % port.size]]\n"
            "        for i in range(grown.size):\n"
            "            grown[i : i + 1] += port.receive()",
        ),
    )
)
