"""Both axes are centred by the height of the grid, as if it were square."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("c + gw - 1", "c + gh - 1"),
        ("table[down, across]", "table[down, across % table.shape[1]]"),
    )
)
