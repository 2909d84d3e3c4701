"""Adam's step as it stands in lesson 9: right, and a new array for every operation. The puzzle beats it."""

import numpy as np


def adam_as_written(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    """New parameters, and new running means of the gradients and of their squares; all (n,)."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    first, second = m / (1 - beta1**step), v / (1 - beta2**step)
    return w - lr * first / (np.sqrt(second) + eps), m, v
