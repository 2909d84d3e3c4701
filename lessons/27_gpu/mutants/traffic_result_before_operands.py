"""x += h makes x first, and so never reads it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            read |= set(operands) - made\n            made.add(result)",
            "            made.add(result)\n            read |= set(operands) - made",
        ),
    )
)
