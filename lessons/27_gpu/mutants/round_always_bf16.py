"""Seven bits are kept, however many were asked for."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.uint32(23 - bits)", "np.uint32(16)"),
    )
)
