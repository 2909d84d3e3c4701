"""Each part counts as much as its log of the sum, and not as its sum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "np.exp(each - log_sums)[:, None] * part",
            "(each / sum(other for _, other in parts))[:, None] * part",
        ),
    )
)
