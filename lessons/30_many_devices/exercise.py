"""Lesson 30: many devices. Fill in the functions, then run: pytest lessons/30_many_devices"""

import math  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it

from tinyvit import objectives  # noqa: F401 - for trust_step: objectives.loss_and_grads
from tinyvit.gradcheck import random_params  # noqa: F401 - and this: parameters that are not 0 or 1
from tinyvit.model import ViTConfig  # noqa: F401 - and this: ViTConfig(8, 4, 6, 7, 2, 1, classes=3) is small
from tinyvit.support.distributed import parts  # noqa: F401 - parts(10, 4): four slices, of 3, 3, 2 and 2 numbers


def reduce_scatter(flat, port):
    """The first half of a ring all-reduce, as one rank carries it out: flat (n,) of each rank is different.

    In place. Afterwards flat[parts(n, port.size)[port.rank]] is the sum over all ranks. The rest of flat may
    be anything. See ring.py for port: port.send(x), port.receive(), port.rank, port.size.
    """
    raise NotImplementedError("write reduce_scatter: which part do you send first, and which comes last?")


def all_gather(flat, port):
    """The second half on one rank, in place: at first only flat[parts(n, port.size)[port.rank]] is right.

    Afterwards all of flat (n,) is, on every rank.
    """
    raise NotImplementedError("write all_gather: the parts go round once more")


def fastest_ranks(images, image_seconds, size, network, most):
    """Number of ranks, from 1 to `most`, that compute a step soonest: (ranks, seconds of that step).

    images: those of the whole batch. They are shared out as evenly as can be. One takes image_seconds. Then
    `size` bytes of gradients are summed by a ring on this network: network.latency, network.bandwidth. Of two
    numbers of ranks that are equally fast, the smaller one is wanted.
    """
    raise NotImplementedError("write fastest_ranks: the rank with the most images, then equation 2")


def bucket_times(layers, limit, ranks, network):
    """The times at which the exchange of each bucket begins and ends, in seconds: an array (buckets, 2).

    layers: for each layer, the first of the model first, (seconds of its backward, bytes of its gradients).
    The backward begins at 0. Whenever a layer is done, its gradients join the bucket. If that has at least
    `limit` bytes then, or if there are no more layers, it is handed to the network, and a new one begins. The
    network works on one bucket at a time, each as in equation 2. No bucket is empty.
    """
    raise NotImplementedError("write bucket_times: when is a bucket full, and when is the network free?")


def trust_step(step):
    """True if a data-parallel step is right, and False if it is not.

    step(config, params, images, labels, ranks, lr, largest) returns what the weights are after a step of
    plain gradient descent: a list with an array, like params.flat, for each rank. All must be equal to what
    one process would get from the whole batch: the gradient of the mean loss, shortened to the norm `largest`
    if it is longer, times lr. What was given stays as it was.
    """
    raise NotImplementedError("write trust_step: a step of your own on the whole batch, to compare with")


# The puzzle


def sharded_step(w, g, largest, update, port):
    """A step on one rank that updates only its own part: ZeRO, stage 1.

    w (n,): the weights, equal on all ranks; in place, they become those after the step, on all ranks. g (n,):
    this rank's own gradients, which may be overwritten. The gradient that counts is their sum over ranks, and
    if its norm is above `largest`, it is shortened to that. update(w, g) is the step of an optimiser, in
    place, on any flat arrays of equal length. It keeps its state from call to call: so call it once, and
    always for the same numbers.

    A rank sends at most 2 (R - 1) / R times the bytes of w, and a few numbers more.
    """
    raise NotImplementedError("write sharded_step: what does a rank need to know of the other parts?")
