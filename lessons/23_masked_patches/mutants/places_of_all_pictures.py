"""The index has no column of pictures: each gradient overwrites those of the other pictures."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "dx[np.arange(len(seen))[:, None], seen] = dy",
            "dx[:, seen] = dy[:, None] * np.ones((1, len(seen), 1, 1))",
        ),
    )
)
