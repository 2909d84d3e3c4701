"""np.sqrt returns a NumPy float64, which turns a float32 dq into float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dS @ k * (1 / math.sqrt(q.shape[-1]))", "dS @ k * (1 / np.sqrt(q.shape[-1]))"),
    )
)
