"""Nothing is subtracted from the scores before exp."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            now = np.maximum(largest, S.max(axis=1, keepdims=True))\n",
            "            now = np.zeros_like(total)\n",
        ),
        ("np.full_like(total, -np.inf)", "np.zeros_like(total)"),
    )
)
