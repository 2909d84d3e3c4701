"""dtable[index] += adds only the last of all pairs at one offset."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "np.add.at(dtable, (down, across), np.moveaxis(dS, 0, -1))",
            "dtable[down, across] += np.moveaxis(dS, 0, -1)",
        ),
    )
)
