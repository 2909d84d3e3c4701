"""The scores are divided by K instead of its root, forward and backward."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("q = q * (1 / math.sqrt(q.shape[-1]))", "q = q * (1 / q.shape[-1])"),
        ("dS @ k * (1 / math.sqrt(q.shape[-1]))", "dS @ k * (1 / q.shape[-1])"),
    )
)
