"""The bits are rounded in the memory of x."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return np.where(np.isnan(x), x, rounded.view(np.float32))",
            "x[...] = np.where(np.isnan(x), x, rounded.view(np.float32))\n    return x",
        ),
    )
)
