"""The last LayerNorm is not given the config's eps."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        (', *params.group("norm"), config.eps)', ', *params.group("norm"))'),
    )
)
