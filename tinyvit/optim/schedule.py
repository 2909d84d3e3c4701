"""Learning rate as a function of the step: linear warm-up, then cosine or linear decay (paper, section 4.1).

    warm-up:   peak * step / warmup                                  step = 1 ... warmup   (1)
    cosine:    peak * (1 + cos(pi * done)) / 2                                             (2)
    linear:    peak * (1 - done)                                                           (3)

with done = (step - warmup) / (total - warmup), from 0 to 1. Warm-up keeps the first steps small, when the
running means of Adam still rest on a handful of gradients; the decay lets the last ones settle.
"""

from __future__ import annotations

import math


def learning_rate(step: int, total: int, peak: float, warmup: int, decay: str = "cosine") -> float:
    """Learning rate of a step, counted from 1 to total; decay is 'cosine', 'linear' or 'constant'."""
    if step <= warmup:
        return peak * step / warmup  #                                                       eq. 1
    done = (step - warmup) / max(total - warmup, 1)
    return peak * _DECAYS[decay](done)


_DECAYS = {
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,  #                            eq. 2
    "linear": lambda done: 1 - done,  #                                                      eq. 3
    "constant": lambda done: 1.0,
}
DECAYS = tuple(_DECAYS)
