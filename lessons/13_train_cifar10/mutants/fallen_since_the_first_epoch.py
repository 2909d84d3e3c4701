"""The training loss is compared with that of the first epoch, not of the lowest held-out loss."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ('last["train_loss"] < lowest["train_loss"]', 'last["train_loss"] <= records[0]["train_loss"]'),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
