"""The features are standardised by their own mean and spread, not by those that are given."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "(features.astype(np.float64) - mean) / (std + 1e-5)",
            "(features.astype(np.float64) - features.mean(axis=0)) / (features.std(axis=0) + 1e-5)",
        ),
    )
)
