"""Every piece counts as if it were the whole batch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (", own, share=share)", ", own)"),
    )
)
