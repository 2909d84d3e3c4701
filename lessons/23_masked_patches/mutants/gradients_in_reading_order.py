"""The gradients are put back as if the places in sight stood in order."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "dx[np.arange(len(seen))[:, None], seen] = dy",
            "dx[np.arange(len(seen))[:, None], np.sort(seen)] = dy",
        ),
    )
)
