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
smooth, best_epoch, verdict, faults_found = (
    answer[name] for name in ("smooth", "best_epoch", "verdict", "faults_found")
)
