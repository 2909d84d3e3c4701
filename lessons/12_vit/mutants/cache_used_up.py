"""The backward empties the list of the blocks' caches as it walks."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        (
            "        dx = block_backward(i, dx, blocks[i], grads)\n",
            "        dx = block_backward(i, dx, blocks[i], grads)\n        blocks[i].norm1[1][...] = 0\n",
        ),
    )
)
