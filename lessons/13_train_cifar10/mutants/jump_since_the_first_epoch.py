"""A loss is compared with that of the first epoch instead of the epoch just before."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "any(after > 1.01 * before for before, after in pairwise(losses))",
        "any(loss > 1.01 * losses[0] for loss in losses)",
    ),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
