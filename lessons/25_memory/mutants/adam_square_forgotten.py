"""v moves towards the gradient itself, and not towards its square."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.multiply(g_, g_, out=t)\n        t -= v_", "np.subtract(g_, v_, out=t)"),
    )
)
