"""The gradient goes through tanh as if its slope were 1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        ("        dx = ops.tanh_backward(dx, hidden[1])\n", ""),
    )
)
