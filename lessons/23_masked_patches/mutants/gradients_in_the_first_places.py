"""The gradients are written to the first places, whatever was in sight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dx[np.arange(len(seen))[:, None], seen] = dy", "dx[:, : seen.shape[1]] = dy"),
    )
)
