"""The zeros have no dtype of their own, and turn the gradient into float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("np.zeros(shape, dy.dtype)", "np.zeros(shape)"))
)
