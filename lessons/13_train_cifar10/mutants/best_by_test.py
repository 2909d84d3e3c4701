"""The best epoch is chosen by the test images."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            '        if best is None or val_accuracy > max(record["val_accuracy"] for record in records):\n'
            "            best =",
            "        _, test = evaluate(model, data.test.images, data.test.labels, batch_size)\n"
            "        if best is None or test > highest:\n"
            "            highest, best = test,",
        ),
    )
)
