"""Lesson 13: optimisers. Fill in the three functions, then run: pytest lessons/13_optimisers"""

import math  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it


def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    """One AdamW update; return the new (w, m, v), in new arrays.

    w, g, m, v are all of one shape; step is counted from 1.
    """
    raise NotImplementedError("write adamw_step: equations adam 5, 1, 2, 3 and 4, in this order")


def clip_norm(g, largest):
    """Scale g (any shape) so that its norm is at most largest; return the new g and the norm before.

    A gradient of zeros comes back as it is.
    """
    raise NotImplementedError("write clip_norm: equation clip 1")


def learning_rate(step, total, peak, warmup, decay="cosine"):
    """Learning rate (a float) of a step, counted from 1 to total; decay is 'cosine' or 'linear'.

    warmup is a number of steps, and may be 0.
    """
    raise NotImplementedError("write learning_rate: equations schedule 1, 2 and 3, with done of equation 1")
