"""The held-out loss may rise by 1 percent, not by 10."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("1.1 * lowest", "1.01 * lowest"),
)
smooth, best_epoch, verdict, faults_found = (
    answer[name] for name in ("smooth", "best_epoch", "verdict", "faults_found")
)
