"""The position embedding never learns."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        (
            '    grads.add("position", dposition)\n',
            "",
        ),
    )
)
