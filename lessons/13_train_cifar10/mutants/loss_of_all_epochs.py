"""The losses of the epochs before are still in the sum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    step, best, records = 0, None, []\n", "    step, best, records, loss_sum = 0, None, [], 0.0\n"),
        ("order, loss_sum = rng.permutation(count), 0.0", "order = rng.permutation(count)"),
    )
)
