"""exp(log_sums) is worked out as it is, and is infinite."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "np.logaddexp.reduce([each for _, each in parts])",
            "np.log(sum(np.exp(each) for _, each in parts))",
        ),
    )
)
