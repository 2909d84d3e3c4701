"""The gradient goes through the attention of a block before it goes through the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "blocks"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "    dg, *dfc2 = linear_backward(dy, fc2_cache)\n"
WRONG = "    dy = dy + layer_norm_backward(attention_backward(dy, attn_cache)[0], norm1_cache)[0]\n" + RIGHT
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
