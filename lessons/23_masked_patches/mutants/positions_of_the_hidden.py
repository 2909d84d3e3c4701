"""Positions are added to the mask tokens alone."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return z + positions, seen",
            "z += positions; z[np.arange(len(y))[:, None], seen] = y; return z, seen",
        ),
    )
)
