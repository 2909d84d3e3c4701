"""Messages are float64, whatever flat is."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    for turn in range(1, port.size):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]])",
            "    for turn in range(1, port.size):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]].astype(float))",
        ),
    )
)
