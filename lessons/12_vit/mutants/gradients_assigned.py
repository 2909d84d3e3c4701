"""Gradients replace what was there instead of being added."""

from pathlib import Path

from lessons.mutation import changed

written_out = changed(
    Path(__file__).parents[1] / "written_out.py",
    (
        '    grads.add("head", *dhead)\n',
        '    grads["head.weight"], grads["head.bias"] = dhead\n',
    ),
)
parameter_count, forward, backward = (
    written_out[name] for name in ("parameter_count", "forward", "backward")
)
