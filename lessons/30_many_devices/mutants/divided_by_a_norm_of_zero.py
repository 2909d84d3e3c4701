"""The factor is worked out before it is asked whether there is a gradient."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    if norm > largest:\n        g[own] *= largest / norm",
            "    g[own] *= min(1.0, largest / np.float64(norm)) if norm != 0 else np.nan",
        ),
    )
)
