"""The slope is returned, and h becomes the value."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        h_ += s  # eq. 8", "        h_ += s\n        g_[...], h_[...] = h_.copy(), g_.copy()"),
    )
)
