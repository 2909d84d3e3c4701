"""trust_put_back never looks at the values."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if not np.allclose(z, expected, rtol=0, atol=1e-12)", "if np.shape(z) != np.shape(expected)"),
    )
)
