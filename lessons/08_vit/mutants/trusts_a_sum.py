"""The gradient check has the sum of the logits for its loss."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dlogits = rng.normal(size=logits.shape)", "dlogits = np.ones(logits.shape)"),
    )
)
