"""The angles' float64 makes float64 of a float32 x."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py", ("rotary(x, Turn", "rotary(x.astype(np.float64), Turn")
    )
)
