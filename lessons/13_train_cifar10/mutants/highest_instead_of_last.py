"""The highest held-out loss since the lowest is taken, not the last."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ('if last["val_loss"] > 1.1', "if max(losses[losses.index(min(losses)) :]) > 1.1"),
)
evaluate, fit, verdict, faults_found = (
    answer[name] for name in ("evaluate", "fit", "verdict", "faults_found")
)
