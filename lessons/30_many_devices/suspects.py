"""Data-parallel steps, for trust_step: step(config, params, images, labels, ranks, lr, largest) -> weights.

Each returns a list with the weights of every rank after the step. RIGHT ones differ in the order of sums
only. WRONG ones are right for some batches. The ranks take turns here, on one thread.
"""

import numpy as np

from tinyvit import objectives
from tinyvit.support.distributed import parts


def _gradients(config, params, images, labels, ranks, shares):
    """The gradients of each rank's part, times its share; zeros where a rank has no images."""
    found = []
    for part, share in zip(parts(len(images), ranks), shares, strict=True):
        grads = params.zeros_like()
        if part.stop > part.start:
            objectives.loss_and_grads(config, params, images[part], labels[part], grads, share=share)
        found.append(grads.flat)
    return found


def _shares(images, ranks):
    return [(part.stop - part.start) / len(images) for part in parts(len(images), ranks)]


def _shortened(g, largest):
    return g * min(1.0, largest / max(np.linalg.norm(g), 1e-30))


def _in_order(config, params, images, labels, ranks, lr, largest):
    g = sum(_gradients(config, params, images, labels, ranks, _shares(images, ranks)))
    return [params.flat - lr * _shortened(g, largest) for _ in range(ranks)]


def _last_rank_first(config, params, images, labels, ranks, lr, largest):
    g = sum(_gradients(config, params, images, labels, ranks, _shares(images, ranks))[::-1])
    return [params.flat - lr * _shortened(g, largest)] * ranks


# The wrong ones


def _mean_of_means(config, params, images, labels, ranks, lr, largest):
    g = sum(_gradients(config, params, images, labels, ranks, [1 / ranks] * ranks))
    return [params.flat - lr * _shortened(g, largest)] * ranks


def _same_share_if_some_are_idle(config, params, images, labels, ranks, lr, largest):
    """Right as long as every rank has an image."""
    shares = _shares(images, ranks)
    if len(images) < ranks:
        shares = [1 / ranks] * ranks
    g = sum(_gradients(config, params, images, labels, ranks, shares))
    return [params.flat - lr * _shortened(g, largest)] * ranks


def _sum_of_means(config, params, images, labels, ranks, lr, largest):
    g = sum(_gradients(config, params, images, labels, ranks, [1.0] * ranks))
    return [params.flat - lr * _shortened(g, largest)] * ranks


def _clipped_before_the_sum(config, params, images, labels, ranks, lr, largest):
    own = _gradients(config, params, images, labels, ranks, _shares(images, ranks))
    return [params.flat - lr * sum(_shortened(g, largest) for g in own)] * ranks


def _never_clipped(config, params, images, labels, ranks, lr, largest):
    g = sum(_gradients(config, params, images, labels, ranks, _shares(images, ranks)))
    return [params.flat - lr * g] * ranks


def _always_clipped(config, params, images, labels, ranks, lr, largest):
    """A short gradient is made longer."""
    g = sum(_gradients(config, params, images, labels, ranks, _shares(images, ranks)))
    return [params.flat - lr * g * largest / max(np.linalg.norm(g), 1e-30)] * ranks


def _rest_dropped(config, params, images, labels, ranks, lr, largest):
    """What does not divide among the ranks is left out, unless nothing would be left."""
    kept = len(images) // ranks * ranks or len(images)
    return _in_order(config, params, images[:kept], labels[:kept], ranks, lr, largest)


def _own_weights_kept(config, params, images, labels, ranks, lr, largest):
    """Only rank 0 gets the sum; the others step by their own gradients."""
    own = _gradients(config, params, images, labels, ranks, _shares(images, ranks))
    steps = [sum(own), *own[1:]]
    return [params.flat - lr * _shortened(g, largest) for g in steps]


def _rate_times_ranks(config, params, images, labels, ranks, lr, largest):
    return _in_order(config, params, images, labels, ranks, lr * ranks, largest)


def _written_in_place(config, params, images, labels, ranks, lr, largest):
    found = _in_order(config, params, images, labels, ranks, lr, largest)
    params.flat[...] = found[0]
    return found


def _all_but_rank_0(config, params, images, labels, ranks, lr, largest):
    """Rank 0 steps by its own gradients; the others get the sum."""
    own = _gradients(config, params, images, labels, ranks, _shares(images, ranks))
    steps = [own[0], *[sum(own)] * (ranks - 1)]
    return [params.flat - lr * _shortened(g, largest) for g in steps]


def _only_rank_0_answers(config, params, images, labels, ranks, lr, largest):
    return _in_order(config, params, images, labels, ranks, lr, largest)[:1]


def _images_in_place(config, params, images, labels, ranks, lr, largest):
    """Right, but the images are darker afterwards."""
    found = _in_order(config, params, images, labels, ranks, lr, largest)
    images *= 0.5
    return found


def _sent_in_float16(config, params, images, labels, ranks, lr, largest):
    own = _gradients(config, params, images, labels, ranks, _shares(images, ranks))
    g = sum(each.astype(np.float16).astype(each.dtype) for each in own)
    return [params.flat - lr * _shortened(g, largest)] * ranks


RIGHT = {"rank after rank": (_in_order,), "the last rank first": (_last_rank_first,)}
WRONG = {
    "every rank has the same share": (_mean_of_means,),
    "the same share when there are fewer images than ranks": (_same_share_if_some_are_idle,),
    "no shares at all": (_sum_of_means,),
    "each rank shortens its own gradient": (_clipped_before_the_sum,),
    "nothing is shortened": (_never_clipped,),
    "every gradient is brought to the largest norm": (_always_clipped,),
    "images that do not divide are left out": (_rest_dropped,),
    "only rank 0 gets the sum": (_own_weights_kept,),
    "the rate is multiplied by the number of ranks": (_rate_times_ranks,),
    "the caller's weights are written over": (_written_in_place,),
    "all but rank 0 get the sum": (_all_but_rank_0,),
    "only the weights of rank 0 are returned": (_only_rank_0_answers,),
    "the caller's images are changed": (_images_in_place,),
    "the gradients are sent in float16": (_sent_in_float16,),
}
