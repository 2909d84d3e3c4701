"""The gradient goes through the attention of a block before it goes through the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "blocks"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "        dg, *dfc2 = linear_backward(dx, fc2)\n"
WRONG = "        dx = dx + layer_norm_backward(attention_backward(dx, attn)[0], norm1)[0]\n" + RIGHT
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
