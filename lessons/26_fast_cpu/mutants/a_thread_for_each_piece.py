"""As many threads as pieces, whatever was asked for."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    B = len(images)\n", "    B, threads = len(images), pieces\n"),
    )
)
