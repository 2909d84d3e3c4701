"""The backward adds its gradient to an array of the cache."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "norm1, attn, norm2, hidden = cache",
            "norm1, attn, norm2, hidden = cache\n    norm2[0][...] += 0.1 * dy",
        ),
    )
)
