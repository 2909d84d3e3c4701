"""The places of the first picture are used for all."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dx[np.arange(len(seen))[:, None], seen] = dy", "dx[:, seen[0]] = dy"),
    )
)
