"""An epoch is kept as the best if it is better than the one before."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            'val_accuracy > max(record["val_accuracy"] for record in records)',
            'val_accuracy > records[-1]["val_accuracy"]',
        ),
    )
)
