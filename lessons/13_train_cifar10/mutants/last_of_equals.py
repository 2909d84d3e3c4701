"""Of equally good epochs the last is kept."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ('val_accuracy > max(record["val_accuracy"]', 'val_accuracy >= max(record["val_accuracy"]'),
    )
)
