"""The loss is that of the patches in sight."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

solution = changed(Path(__file__).parents[1] / "solution.py")
globals().update(solution)


def painting_loss(painted, patches, seen, eps):
    hidden = np.argsort(
        [[t in row for t in range(painted.shape[1])] for row in seen.tolist()], axis=1, kind="stable"
    )
    return solution["painting_loss"](painted, patches, hidden[:, : painted.shape[1] - seen.shape[1]], eps)
