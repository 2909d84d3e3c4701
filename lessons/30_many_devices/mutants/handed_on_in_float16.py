"""Half the bytes: parts are handed on in float16, and the owner alone has all the digits."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    for turn in range(port.size - 1):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]])",
            "    for turn in range(port.size - 1):\n"
            "        port.send(flat[cuts[(port.rank - turn) % port.size]].astype('float16'))",
        ),
    )
)
