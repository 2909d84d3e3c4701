"""Pairs of a forward and a backward for corrupted patches. The wrong ones are right for some sources only."""

import numpy as np

from tinyvit.ops import corrupt
from tinyvit.ops.corruption import MASKED


def patch_by_patch(dy, cache):
    """Right: every position gives its gradient to what it shows."""
    dx, dmask_token = np.zeros_like(dy), np.zeros_like(dy[0, 0])
    for b, t in np.ndindex(cache.shape):
        if cache[b, t] == MASKED:
            dmask_token += dy[b, t]
        else:
            dx[b, cache[b, t]] += dy[b, t]
    return dx, dmask_token


def added_at(dy, cache):
    """Right: np.add.at adds once for every index, however often it comes."""
    dx, (images, positions) = np.zeros_like(dy), np.nonzero(cache != MASKED)
    np.add.at(dx, (images, cache[images, positions]), dy[images, positions])
    return dx, dy[cache == MASKED].sum(axis=0)


# The wrong ones


def buffered(dy, cache):
    """dx[indices] += dy adds only once where an index comes twice."""
    dx, (images, positions) = np.zeros_like(dy), np.nonzero(cache != MASKED)
    dx[images, cache[images, positions]] += dy[images, positions]
    return dx, dy[cache == MASKED].sum(axis=0)


def minus_one_is_the_last(dy, cache):
    """MASKED is -1, and as an index that is the last patch, which gets what belongs to the mask token."""
    dx = np.zeros_like(dy)
    np.add.at(dx, (np.arange(len(dy))[:, None], cache), dy)
    return dx, dy[cache == MASKED].sum(axis=0)


def read_where_it_should_be_added(dy, cache):
    """S instead of its transpose: right as long as patches only change places in pairs."""
    dx = np.take_along_axis(dy, np.maximum(cache, 0)[:, :, None], axis=1)
    dx[cache == MASKED] = 0
    return dx, dy[cache == MASKED].sum(axis=0)


def swaps_forgotten(dy, cache):
    """Every patch that is not masked gets the gradient of its own position."""
    return np.where((cache == MASKED)[:, :, None], 0, dy), dy[cache == MASKED].sum(axis=0)


def token_averaged(dy, cache):
    """The mask token's gradient is the mean over the masked patches."""
    dx, dmask_token = patch_by_patch(dy, cache)
    return dx, dmask_token / max(1, (cache == MASKED).sum())


def token_of_the_first_image(dy, cache):
    """The mask token's gradient comes from the first image alone."""
    return patch_by_patch(dy, cache)[0], dy[0][cache[0] == MASKED].sum(axis=0)


def masked_patches_get_nothing(dy, cache):
    """A patch whose own position is masked gets no gradient, though another position may show it."""
    dx, dmask_token = patch_by_patch(dy, cache)
    dx[cache == MASKED] = 0
    return dx, dmask_token


def sources_of_the_first_image(x, mask_token, source):
    """All images are corrupted as the first one is, and the backward follows suit."""
    return corrupt(x, mask_token, np.repeat(source[:1], len(source), axis=0))


def token_added(x, mask_token, source):
    """The mask token is added to a masked patch instead of taking its place."""
    masked = source == MASKED
    shown = np.where(masked, np.arange(x.shape[1]), source)
    y = np.take_along_axis(x, shown[:, :, None], axis=1) + masked[:, :, None] * mask_token
    return y, (shown, masked)


def token_added_backward(dy, cache):
    return patch_by_patch(dy, cache[0])[0], dy[cache[1]].sum(axis=0)


RIGHT = {"patch by patch": (corrupt, patch_by_patch), "np.add.at": (corrupt, added_at)}
WRONG = {
    wrong.__name__: (corrupt, wrong)
    for wrong in (
        buffered,
        minus_one_is_the_last,
        read_where_it_should_be_added,
        swaps_forgotten,
        token_averaged,
        token_of_the_first_image,
        masked_patches_get_nothing,
    )
}
WRONG |= {
    "sources_of_the_first_image": (sources_of_the_first_image, patch_by_patch),
    "token_added": (token_added, token_added_backward),
}
