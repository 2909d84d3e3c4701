"""The training loss is asked for jumps although there is a validation loss."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("losses = [record[key] for record in records]", 'losses = [record["train_loss"] for record in records]'),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
