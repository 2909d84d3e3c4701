"""Model answers. The library's GPU kernels do the same where no learner can watch."""

import importlib
import math

import numpy as np

toy = importlib.import_module("lessons.28_gpu.device")
_plain = importlib.import_module("lessons.28_gpu.plain")
Plain, loss_and_gradient = _plain.Plain, _plain.loss_and_gradient

__all__ = ["join_master", "round_significand", "split_master", "timeline", "traffic"]
__all__ += ["train_without_waiting", "trust_graph"]


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


def round_significand(x, bits):
    """Add a little less than half of what is dropped, one more if the last kept bit is 1, and cut."""
    x = np.asarray(x)
    pattern, dropped = x.view(np.uint32), np.uint32(23 - bits)
    if dropped == 0:
        return x.copy()
    last = (pattern >> dropped) & np.uint32(1)
    half = np.uint32(1) << (dropped - np.uint32(1))
    rounded = (pattern + (half - np.uint32(1) + last)) >> dropped << dropped
    return np.where(np.isnan(x), x, rounded.view(np.float32))


def train_without_waiting(w, batches, rate, largest, every=20):
    """The losses stay on the device until it is time; clipping multiplies always."""
    means, unread = [], []

    def is_fine():
        means.append(sum(map(float, unread)) / len(unread))
        unread.clear()
        return math.isfinite(means[-1])

    for x, t in batches:
        loss, g = loss_and_gradient(w, x, t)
        g *= toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))
        w -= rate * g
        unread.append(loss)
        if len(unread) == every and not is_fine():
            return means
    if unread:
        is_fine()
    return means


def trust_graph(capture_step):
    """Prepared on one batch; then six steps on others, gradients long and short, rates up and down."""
    rng = np.random.default_rng(0)
    x, t, w = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3)
    device = toy.Device()
    arrays = [device.array(each) for each in (w, x, t, 0.7)]
    step, loss = capture_step(device, *arrays)
    plain = Plain(w)
    for size in (0.1, 10, 0.1, 0.1, 10, 10):
        x, t, rate = size * rng.normal(size=(4, 3)), rng.normal(size=4), rng.uniform(0.1, 1)
        for array, values in zip(arrays[1:], (x, t, rate), strict=True):
            array.set(values)
        step()
        expected = plain.step(x, t, rate)
        if not np.allclose(loss.get(), expected, rtol=1e-9) or not np.allclose(arrays[0].get(), plain.w):
            return False
    return True


def split_master(w):
    """A tie goes away from zero, so that what is left has 65,536 values, and not 65,537."""
    pattern = np.asarray(w).view(np.uint32)
    shadow = (pattern + np.uint32(0x8000)) >> np.uint32(16)
    return shadow.astype(np.uint16), (pattern & np.uint32(0xFFFF)).astype(np.uint16)


def join_master(shadow, rest):
    """The top bit of the rest says whether the shadow was rounded up."""
    upper = shadow - (rest >> np.uint16(15))
    return ((upper.astype(np.uint32) << np.uint32(16)) | rest).view(np.float32)
