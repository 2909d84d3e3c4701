"""trust_class_token never looks at the values."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if not np.array_equal(y, expected)", "if np.shape(y) != np.shape(expected)"),
    )
)
