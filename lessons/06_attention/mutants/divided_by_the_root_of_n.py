"""The scores are divided by the root of the number of tokens, forward and backward."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("q = q * (1 / math.sqrt(q.shape[-1]))", "q = q * (1 / math.sqrt(q.shape[1]))"),
        ("dS @ k * (1 / math.sqrt(q.shape[-1]))", "dS @ k * (1 / math.sqrt(q.shape[1]))"),
    )
)
