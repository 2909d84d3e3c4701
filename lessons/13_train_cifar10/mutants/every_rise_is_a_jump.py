"""Every rise of the loss counts as a jump, however small."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("after > 1.01 * before", "after > before"),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
