"""Lesson 26: threads. Fill in the functions, then run: pytest lessons/26_threads"""

from concurrent.futures import ThreadPoolExecutor  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it

from tinyvit import objectives  # noqa: F401 - and objectives.loss_and_grads
from tinyvit.checking import random_params  # noqa: F401 - for trust_gradients: parameters that are not 0 or 1
from tinyvit.model import ViTConfig  # noqa: F401 - and this: ViTConfig(8, 4, 6, 7, 2, 1, classes=3) is small


def gradients_on_threads(config, params, images, labels, pieces, threads):
    """Loss and gradients of a batch, cut into pieces, on threads; the same bits in every call.

    images (B, H, W, 3), labels (B,). pieces, at most B, says into how many parts the batch is cut; their
    sizes differ by one image at most. `threads` of them are worked on at a time.
    There is one table of gradients for each thread. Return the loss of the whole batch, and its gradients: a
    table like params.zeros_like().
    """
    raise NotImplementedError(
        "write gradients_on_threads: equation 1, with a table of its own for each thread"
    )


def trust_gradients(gradients):
    """Whether gradients(config, params, images, labels, pieces, threads) does what is asked: True or False.

    It returns (loss, table) as gradients_on_threads does. It may be trusted if both are those of the whole
    batch, for every number of pieces and threads; if the same call gives the same bits; and if no call
    changes what it was given or what an earlier call returned.
    """
    raise NotImplementedError("write trust_gradients: compare with the whole batch, and with a second call")


# The puzzle: gradients_on_threads gives other bits on two threads than on three. This one does not.


def gradients_for_any_threads(config, params, images, labels, pieces, threads):
    """As gradients_on_threads, but the bits depend on the pieces alone, not on the number of threads.

    At no time are there more than threads + 2 tables of gradients, however many pieces there are.
    """
    raise NotImplementedError("write gradients_for_any_threads: in which order must the pieces be added?")
