"""The last bucket begins when its last gradient is there, though more layers follow."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        held += size\n",
            "        held += size\n        last = clock if size else last\n",
        ),
        ("begin = max(clock, free)", "begin = max(last, free)"),
        ("    held, times = 0, []\n", "    held, times, last = 0, [], 0.0\n"),
    )
)
