"""The backward of attention is given the gradient of the block's result, without the part through the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "        dx = dx + dbranch\n        dn, *dattn = attention_backward(dx, attn)\n"
WRONG = "        dn, *dattn = attention_backward(dx, attn)\n        dx = dx + dbranch\n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
