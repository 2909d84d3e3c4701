"""Evaluation takes the mean of the batches' means, though the last batch is smaller."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    loss_sum, right = 0.0, 0\n", "    loss_sum, right, batches = 0.0, 0.0, 0\n"),
        ("loss_sum += float(loss) * len(logits)", "loss_sum += float(loss)"),
        (
            "right += int((logits.argmax(axis=1) == labels[part]).sum())",
            "right, batches = right + float((logits.argmax(axis=1) == labels[part]).mean()), batches + 1",
        ),
        ("return loss_sum / len(labels), right / len(labels)", "return loss_sum / batches, right / batches"),
    )
)
