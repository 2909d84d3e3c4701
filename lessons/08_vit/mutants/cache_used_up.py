"""The backward empties the list of the blocks' caches as it walks."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "block_backward(dx, blocks[i])",
            "block_backward(dx, blocks.pop())",
        ),
    )
)
