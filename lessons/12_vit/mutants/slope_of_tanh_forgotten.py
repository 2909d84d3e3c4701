"""The gradient goes through tanh as if its slope were 1."""

from pathlib import Path

from lessons.mutation import changed

written_out = changed(
    Path(__file__).parents[1] / "written_out.py",
    ("        dx = ops.tanh_backward(dx, hidden[1])\n", ""),
)
parameter_count, forward, backward = (
    written_out[name] for name in ("parameter_count", "forward", "backward")
)
