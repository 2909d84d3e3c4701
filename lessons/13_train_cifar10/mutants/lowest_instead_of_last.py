"""The lowest training loss is compared with guessing, not the last."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        'if last["train_loss"] > 0.95 * guess',
        'if min(record["train_loss"] for record in records) > 0.95 * guess',
    ),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
