"""Learning rate as a function of the step: linear warm-up, then cosine or linear decay (paper, section 4.1).

    warm-up:   peak * step / warmup                                  step = 1 ... warmup   (1)
    cosine:    peak * (1 + cos(pi * done)) / 2                                             (2)
    linear:    peak * (1 - done)                                                           (3)

with done = (step - 1 - warmup) / (total - warmup), the share of the decay that lies behind when a step
begins: from 0 to almost 1, so that the first update and the last one both move the weights. Warm-up keeps the
first steps small, when the running means of Adam still rest on a handful of gradients; the decay lets the
last ones settle.
"""

from __future__ import annotations

import math


def learning_rate(step: int, total: int, peak: float, warmup: int, decay: str = "cosine") -> float:
    """Learning rate of a step, counted from 1 to total; decay is 'cosine', 'linear' or 'constant'."""
    if step <= warmup:
        return peak * step / warmup  #                                                       eq. 1
    done = (step - 1 - warmup) / (total - warmup)
    return peak * _DECAYS[decay](done)


_DECAYS = {
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,  #                            eq. 2
    "linear": lambda done: 1 - done,  #                                                      eq. 3
    "constant": lambda done: 1.0,
}
DECAYS = tuple(_DECAYS)
