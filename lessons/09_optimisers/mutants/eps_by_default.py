"""eps is 1e-8, whatever the caller says."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("/ (np.sqrt(v_hat) + eps), m, v", "/ (np.sqrt(v_hat) + 1e-8), m, v"),
    )
)
