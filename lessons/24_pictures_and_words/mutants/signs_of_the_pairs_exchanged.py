"""The right pairs are pushed apart and the wrong ones together: the sign is the other one."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.where(same, -S, S)", "np.where(same, S, -S)"),
        ("- same) / B", "- ~same) / B"),
    )
)
