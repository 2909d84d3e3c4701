"""The parameters of the last epoch are returned."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ('if best is None or val_accuracy > max(record["val_accuracy"] for record in records):', "if epoch:"),
    )
)
