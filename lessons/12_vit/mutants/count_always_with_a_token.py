"""The count has a class token in every model."""

from pathlib import Path

from lessons.mutation import changed

written_out = changed(
    Path(__file__).parents[1] / "written_out.py",
    ("places = config.tokens * D + config.has_token * D", "places = config.tokens * D + D"),
)
parameter_count, forward, backward = (
    written_out[name] for name in ("parameter_count", "forward", "backward")
)
