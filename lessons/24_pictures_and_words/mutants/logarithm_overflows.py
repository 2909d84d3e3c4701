"""log(1 + exp(z)) is taken as it stands, and exp(z) overflows."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.logaddexp(0, np.where(same, -S, S))", "np.log(1 + np.exp(np.where(same, -S, S)))"),
    )
)
