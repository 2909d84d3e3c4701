"""The learning rate at each step: linear warm-up, then cosine or linear decay (paper, section 4.1).

    warm-up:   peak * step / warmup                                  step = 1 ... warmup   (1)
    cosine:    peak * (1 + cos(pi * done)) / 2                                             (2)
    linear:    peak * (1 - done)                                                           (3)

with done = (step - 1 - warmup) / (total - warmup), the share of the decay completed when a step begins. It
runs from 0 to almost 1, so that the first and the last update both change the weights. Warm-up keeps the
first steps small, while Adam's running means rest on only a handful of gradients; the decay lets the weights
settle at the end.
"""

import math


def learning_rate(step: int, total: int, peak: float, warmup: int, decay: str = "cosine") -> float:
    """The learning rate at a step from 1 to total; decay is 'cosine', 'linear' or 'constant'."""
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
