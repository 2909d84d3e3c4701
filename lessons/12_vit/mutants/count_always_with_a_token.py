"""The count has a class token in every model."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        ("tokens = config.tokens * D + config.has_token * D", "tokens = config.tokens * D + D"),
    )
)
