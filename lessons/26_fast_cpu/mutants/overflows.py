"""The gate is exp(2u) / (1 + exp(2u)), and inf / inf is NaN."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        np.tanh(s, out=s)\n        s *= 0.5\n        s += 0.5",
            "        s = np.exp(2 * s) / (1 + np.exp(2 * s))",
        ),
    )
)
