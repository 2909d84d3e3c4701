"""Post-norm's straight path goes around the norm, as in pre-norm."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "ops.layer_norm_backward(dsum + branch, norm1)",
            "ops.layer_norm_backward(branch, norm1)",
        ),
    )
)
