"""The count takes the images to be square."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        (
            "tokens = config.tokens * D + config.has_token * D",
            "tokens = ((config.image_size[0] // config.patch_size) ** 2 + 2 * config.has_token) * D",
        ),
    )
)
