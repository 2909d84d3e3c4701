"""The numbers that do not divide among the ranks belong to no part."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    cuts = parts(flat.size, port.size)\n    for turn in range(1",
            "    n = flat.size // port.size\n"
            "    cuts = [slice(n * rank, n * rank + n) for rank in range(port.size)]\n"
            "    for turn in range(1",
        ),
    )
)
