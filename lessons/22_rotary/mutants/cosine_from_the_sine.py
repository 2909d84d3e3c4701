"""To save memory only the sine is kept, and the cosine is made of it: its sign is lost."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.rotary import rotary_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def turn_patches_backward(dy, cache):
    y, turn = cache
    return rotary_backward(dy, (y, turn._replace(cos=np.sqrt(1 - turn.sin**2))))[0]
