"""An array that several steps of a kernel need is read once for each."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("made, read = set(), set()", "made, read = set(), []"),
        ("read |= set(operands) - made", "read += set(operands) - made"),
        ("(wanted - made) | read", "(wanted - made) | set(read)"),
    )
)
