"""dy is padded above as the image was, which is right for odd kernels only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(k - 1 - above, above)", "(above, k - 1 - above)"),
    )
)
