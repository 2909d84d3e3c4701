"""Only the last tile counts: the sums begin anew with every tile."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            S = asking",
            "            mix, total = np.zeros_like(mix), np.zeros_like(total)\n"
            "            largest = np.full_like(total, -np.inf)\n"
            "            S = asking",
        ),
    )
)
