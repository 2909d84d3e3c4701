"""Any epoch far above guessing counts as divergence, even if the run recovers."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        'or last["train_loss"] > 1.2 * guess',
        'or any(record["train_loss"] > 1.2 * guess for record in records)',
    ),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
