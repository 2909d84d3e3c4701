"""The epochs of the warm-up are taken for steps."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("peak, warmup_epochs * steps)", "peak, warmup_epochs)"),
    )
)
