"""The training loss is the mean of the batches' means."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("loss_sum += loss * len(chosen)", "loss_sum += loss"),
        ("train_loss = loss_sum / count", "train_loss = loss_sum / steps"),
    )
)
