"""The gradients are put back as if the chosen patches stood in order."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dlogits[images, chosen] =", "dlogits[images, np.sort(chosen)] ="),
    )
)
