"""Model answers. The library's GPU kernels do the same where no learner can watch."""

import importlib
import math

import numpy as np

toy = importlib.import_module("lessons.27_gpu.device")


def traffic(kernels, nbytes, kept):
    """From the last kernel to the first, with the names that somebody will still read."""
    wanted, moved = set(kept), 0
    for steps in reversed(kernels):
        made, read = set(), set()
        for result, operands in steps:
            read |= set(operands) - made
            made.add(result)
        moved += sum(nbytes[name] for name in read) + sum(nbytes[name] for name in made & wanted)
        wanted = (wanted - made) | read
    return len(kernels), moved


def timeline(operations, card):
    """Launched, and the one before it ended: then it begins."""
    host, card_free, times = 0.0, 0.0, []
    for each in operations:
        host += card.launch_seconds
        start = max(host, card_free)
        arithmetic = 2 * each.multiply_adds / card.flop_a_second
        card_free = start + max(arithmetic, each.bytes_moved / card.bytes_a_second)
        times.append((start, card_free))
        if each.host_waits:
            host = card_free
    return np.array(times).reshape(-1, 2)


def train_without_waiting(loss_and_gradient, w, batches, rate, largest, every=20):
    """The losses stay on the device until it is time; clipping multiplies always."""
    means, unread = [], []
    for x, t in batches:
        loss, g = loss_and_gradient(w, x, t)
        g *= toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))
        w -= rate * g
        unread.append(loss)
        if len(unread) == every:
            means.append(sum(map(float, unread)) / every)
            unread.clear()
            if not math.isfinite(means[-1]):
                break
    return means


def round_significand(x, bits):
    """Add a little less than half of what is dropped, one more if the last kept bit is 1, and cut."""
    x = np.asarray(x)
    pattern, dropped = x.view(np.uint32), np.uint32(23 - bits)
    last = (pattern >> dropped) & np.uint32(1)
    half = np.uint32(1) << (dropped - np.uint32(1))
    rounded = (pattern + (half - np.uint32(1) + last)) >> dropped << dropped
    return np.where(np.isnan(x), x, rounded.view(np.float32))


def split_master(w):
    """A tie goes away from zero, so that what is left has 65,536 values, and not 65,537."""
    pattern = np.asarray(w).view(np.uint32)
    shadow = (pattern + np.uint32(0x8000)) >> np.uint32(16)
    return shadow.astype(np.uint16), (pattern & np.uint32(0xFFFF)).astype(np.uint16)


def join_master(shadow, rest):
    """The top bit of the rest says whether the shadow was rounded up."""
    upper = shadow - (rest >> np.uint16(15))
    return ((upper.astype(np.uint32) << np.uint32(16)) | rest).view(np.float32)
