"""Lesson 27: the GPU. Fill in the functions, then run: pytest lessons/27_gpu"""

import importlib

import numpy as np  # noqa: F401 - you will want it

toy = importlib.import_module("lessons.27_gpu.device")  # toy.minimum, toy.sqrt


def traffic(kernels, nbytes, kept):
    """Number of launches that a computation takes, and of bytes that it moves: two whole numbers.

    kernels: a list of kernels in their order. Each is a list of steps (result, operands): the name of the
    array it makes or overwrites, and a list of the names of the arrays it reads. nbytes[name]: the size.
    kept: the names of the arrays that are wanted at the end. Inside a kernel nothing is moved twice, and
    nothing that can stay in registers. No kernel writes to memory what nobody will read.
    """
    raise NotImplementedError("write traffic: which arrays must a kernel read, and which must it write?")


def timeline(operations, card):
    """The times at which the card begins and ends each operation, in seconds: an array (n, 2).

    operations: a list of Operation, card: a Card (see cards.py). The host starts at 0 and needs
    card.launch_seconds for each launch; after one with host_waits it goes on when the card has finished it.
    The card does one operation at a time, in their order, each as fast as arithmetic and memory allow.
    """
    raise NotImplementedError("write timeline: when can an operation begin, and how long does it take?")


def train_without_waiting(loss_and_gradient, w, batches, rate, largest, every=20):
    """Train w (D,) on the device, in place, and return the mean loss of every `every` steps as a list.

    loss_and_gradient(w, x, t) returns the loss () and the gradient (D,), both on the device. batches: pairs
    x, t on the device, a multiple of `every` of them, which can be gone through once. Each step clips the
    gradient to the norm `largest`. If a mean is not finite, training ends with it. The host waits only once
    for each mean.
    """
    raise NotImplementedError("write train_without_waiting: no `if` on a number of the device, few reads")


def round_significand(x, bits):
    """float32 x (any shape) rounded to `bits` bits after the leading one: float32, of the same shape.

    To the nearest such number; halfway between two, to the one whose last bit is 0. bits is 1 to 22: 7 for
    bf16, 10 for TF32. What is too large becomes infinity; infinities and NaN stay what they are.
    """
    raise NotImplementedError("write round_significand: on the bits, x.view(np.uint32)")


# The puzzle: masters in float32 and a copy in bf16 take six bytes for each parameter. Four are enough.


def split_master(w):
    """float32 w (any shape) as two arrays of uint16 of its shape: shadow, rest.

    shadow holds the bits of a bf16 number nearest to w, of which there may be two. |w| is at most 3e38.
    """
    raise NotImplementedError("write split_master: which of two nearest numbers will you take?")


def join_master(shadow, rest):
    """The same float32 w, to the last bit, from the two arrays that split_master has made of it."""
    raise NotImplementedError("write join_master: was w above or below its shadow?")
