"""The outputs so far are not made smaller when a larger score comes."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        for (int i = 0; i < K; i++) mix[i] *= shrink;\n", ""),
    )
)
