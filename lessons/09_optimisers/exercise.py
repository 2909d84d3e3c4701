"""Lesson 9: optimisers. Fill in the functions, then run: pytest lessons/09_optimisers"""

import math  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it


def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    """One AdamW update; return the new (w, m, v), in new arrays.

    w, g, m, v are all of one shape; step is counted from 1.
    """
    raise NotImplementedError("write adamw_step: decay (adam 5), means (1, 2), correction, step (4)")


def clip_norm(g, largest):
    """Scale g (any shape) so that its norm is at most largest; return a new g and the norm before.

    A gradient of zeros stays a gradient of zeros.
    """
    raise NotImplementedError("write clip_norm: one factor for the whole of g, and never more than 1")


def learning_rate(step, total, peak, warmup, decay="cosine"):
    """Learning rate (a float) of a step, counted from 1 to total; decay is 'cosine' or 'linear'.

    warmup is a number of steps, from 0 to total.
    """
    raise NotImplementedError("write learning_rate: the warm-up, then half a cosine wave or a straight line")


def trust_adamw(adamw_step):
    """True if this adamw_step, called as the one above, is right, and False if it is not."""
    raise NotImplementedError("write trust_adamw: steps of which you know the result, no argument by default")


# The puzzle


def largest_rate(steepness, momentum):
    """The largest lr at which SGD with momentum still comes down f(w) = steepness * w * w / 2.

    With any larger lr, |w| grows without bound. steepness > 0, and 0 <= momentum < 1.
    """
    raise NotImplementedError("write largest_rate: try it on paper or by experiment, to a part in a thousand")
