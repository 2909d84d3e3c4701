"""The blocks are walked from the first to the last on the way back."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "blocks"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = ("reversed(block_caches)", "dblocks = dblock + dblocks")
WRONG = ("block_caches", "dblocks = dblocks + dblock")
globals().update(changed(SOLUTION, *zip(RIGHT, WRONG, strict=True)))
