"""An accuracy of 0 is not better than nothing, and nothing is kept."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            'if best is None or val_accuracy > max(record["val_accuracy"] for record in records):',
            'if val_accuracy > max([0.0] + [record["val_accuracy"] for record in records]):',
        ),
    )
)
