"""The loop over the columns ends for all lanes together, beyond the end of the row."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "for (int column = lane; column < D; column += 32)",
            "for (int column = lane; column - lane < D; column += 32)",
        ),
    )
)
