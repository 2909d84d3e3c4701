"""The gradient does not take the skip connection around the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        ("        dx = dx + dbranch\n        dn, *dattn", "        dx = dbranch\n        dn, *dattn"),
    )
)
