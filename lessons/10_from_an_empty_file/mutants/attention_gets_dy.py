"""The backward of attention is given the gradient of the block's result, without the part through the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "attention_backward(dx, attn_cache)"
WRONG = "attention_backward(dx - dbranch, attn_cache)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
