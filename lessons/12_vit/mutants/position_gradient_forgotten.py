"""The position embedding never learns."""

from pathlib import Path

from lessons.mutation import changed

written_out = changed(
    Path(__file__).parents[1] / "written_out.py",
    (
        '    grads.add("position", dposition)\n',
        "",
    ),
)
parameter_count, forward, backward = (
    written_out[name] for name in ("parameter_count", "forward", "backward")
)
