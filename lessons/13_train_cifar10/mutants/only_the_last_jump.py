"""Only the last epoch is asked for a jump of the loss."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "any(after > 1.01 * before for before, after in pairwise(losses))",
        "len(losses) > 1 and losses[-1] > 1.01 * losses[-2]",
    ),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
