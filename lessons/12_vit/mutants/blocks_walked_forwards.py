"""The backward starts at the first block."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        ("for i in reversed(range(config.layers)):", "for i in range(config.layers):"),
    )
)
