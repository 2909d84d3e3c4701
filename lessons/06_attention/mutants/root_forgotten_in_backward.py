"""The backward leaves out the division of dq by the root of K."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("dS @ k * (1 / math.sqrt(q.shape[-1]))", "dS @ k"))
)
