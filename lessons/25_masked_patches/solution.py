"""The library's own functions are the model answer; what it has no need of is written out here."""

import numpy as np

from tinyvit.checking import check_gradients
from tinyvit.objectives.patch_targets import colour_classes
from tinyvit.ops import corrupt, corrupt_backward, cross_entropy, cross_entropy_backward
from tinyvit.ops.corruption import MASKED

__all__ = ["MASKED", "best_loss", "colour_classes", "corrupt", "corrupt_backward", "masked_loss"]
__all__ += ["trust_corrupt"]


def masked_loss(logits, colours, chosen):
    """Only the rows of the chosen patches reach the loss, and only they get a gradient."""
    images = np.arange(len(logits))[:, None]  # (B, 1)
    asked = logits[images, chosen]  # (B, n, C)
    right = colours[images, chosen]  # (B, n)
    loss, cache = cross_entropy(asked.reshape(-1, asked.shape[-1]), right.reshape(-1))
    dlogits = np.zeros_like(logits)
    dlogits[images, chosen] = cross_entropy_backward(cache).reshape(asked.shape)
    return loss, dlogits


def trust_corrupt(forward, backward):
    """Two images; patches that are masked, shown twice, moved round in a circle, shown nowhere."""
    rng = np.random.default_rng(0)
    x, mask_token = rng.normal(size=(2, 6, 4)), rng.normal(size=4)
    source = np.array([[1, 2, 0, MASKED, 2, 2], [0, MASKED, 5, 3, 4, MASKED]])
    y, _ = forward(x, mask_token, source)
    expected = [
        [mask_token if s == MASKED else image[s] for s in row] for image, row in zip(x, source, strict=True)
    ]
    if not np.array_equal(y, expected):  # a gradient check never asks what the forward is
        return False
    shown = lambda x, mask_token: forward(x, mask_token, source)
    return max(check_gradients(shown, backward, (x, mask_token), rng)) < 1e-6


def best_loss(colours, seen):
    """Answer each number with the shares of the colours that it came with: that loss is their entropy."""
    _, number, told = np.unique(seen, return_inverse=True, return_counts=True)
    pairs, together = np.unique(np.stack([number, colours]), axis=1, return_counts=True)
    shares = together / told[pairs[0]]  # of a colour, among the patches of which the same was told
    return float(-(together * np.log(shares)).sum() / len(colours))
