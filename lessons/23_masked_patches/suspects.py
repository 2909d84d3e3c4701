"""Pairs of a forward and a backward that put tokens back. The wrong ones are right for some pictures only."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.23_masked_patches.solution")
put_back, right = solution.put_back, solution.put_back_backward


def place_by_place(dz, cache):
    """Right: every place passes on its gradient by itself."""
    dy = np.zeros((*cache.shape, dz.shape[2]))
    dmask_token, dpositions = np.zeros_like(dz[0, 0]), np.zeros_like(dz[0])
    for b, t in np.ndindex(dz.shape[:2]):
        dpositions[t] += dz[b, t]
        if t in cache[b]:
            dy[b, list(cache[b]).index(t)] = dz[b, t]
        else:
            dmask_token += dz[b, t]
    return dy, dmask_token, dpositions


def by_difference(dz, cache):
    """Right: the mask token gets what all places get together, without those in sight."""
    dy = np.take_along_axis(dz, cache[:, :, None], axis=1)
    return dy, dz.sum(axis=(0, 1)) - dy.sum(axis=(0, 1)), dz.sum(axis=0)


# The wrong ones


def in_reading_order(dz, cache):
    """The gradients of the tokens come in the order of the places, not in that of seen."""
    return right(dz, np.sort(cache, axis=1))


def order_taken_twice(dz, cache):
    """A token gets the gradient of another: the inverse of the order where the order is needed."""
    dy, *others = right(dz, np.sort(cache, axis=1))
    return np.take_along_axis(dy, cache.argsort(axis=1)[:, :, None], axis=1), *others


def places_of_the_first_picture(dz, cache):
    """All gradients of tokens are read in the places of the first picture."""
    _, *others = right(dz, cache)
    return dz[:, cache[0]], *others


def token_averaged(dz, cache):
    """The mask token's gradient is the mean over the hidden places."""
    dy, dmask_token, dpositions = right(dz, cache)
    return dy, dmask_token / max(1, dz.shape[0] * dz.shape[1] - cache.size), dpositions


def token_of_the_first_picture(dz, cache):
    """The mask token's gradient comes from the first picture alone."""
    dy, _, dpositions = right(dz, cache)
    return dy, right(dz[:1], cache[:1])[1], dpositions


def token_of_all_places(dz, cache):
    """The mask token gets the gradients of the places in sight as well."""
    dy, _, dpositions = right(dz, cache)
    return dy, dz.sum(axis=(0, 1)), dpositions


def positions_of_the_hidden(dz, cache):
    """A position gets no gradient from pictures in which its place is in sight."""
    dy, dmask_token, _ = right(dz, cache)
    hidden = dz.copy()
    hidden[np.arange(len(dz))[:, None], cache] = 0
    return dy, dmask_token, hidden.sum(axis=0)


def token_added(y, mask_token, positions, seen):
    """The mask token is added to the tokens in sight, too."""
    return put_back(y + mask_token, mask_token, positions, seen)


def token_added_backward(dz, cache):
    dy, _, dpositions = right(dz, cache)
    return dy, dz.sum(axis=(0, 1)), dpositions


def bare_mask_tokens(y, mask_token, positions, seen):
    """Only the places in sight get their positions."""
    z = np.empty((len(y), *positions.shape))
    z[...] = mask_token
    z[np.arange(len(y))[:, None], seen] = y + positions[seen]
    return z, seen


def bare_mask_tokens_backward(dz, cache):
    dy, dmask_token, _ = right(dz, cache)
    dpositions = np.zeros_like(dz[0])
    np.add.at(dpositions, cache, dy)
    return dy, dmask_token, dpositions


RIGHT = {"place by place": (put_back, place_by_place), "by difference": (put_back, by_difference)}
WRONG = {
    wrong.__name__: (put_back, wrong)
    for wrong in (
        in_reading_order,
        order_taken_twice,
        places_of_the_first_picture,
        token_averaged,
        token_of_the_first_picture,
        token_of_all_places,
        positions_of_the_hidden,
    )
}
WRONG |= {
    "token_added": (token_added, token_added_backward),
    "bare_mask_tokens": (bare_mask_tokens, bare_mask_tokens_backward),
}
