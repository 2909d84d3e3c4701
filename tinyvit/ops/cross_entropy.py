"""Softmax cross-entropy, forward and backward, with labels or soft targets, and label smoothing.

For logits z (B, C) and targets t (B, C), each row a distribution over the C classes:

    p = softmax of each row of z                                                           (1)
    loss = - (1/B) sum_b sum_c t_bc log p_bc                                               (2)
         = (1/B) sum_b (log sum_c exp(z_bc) - sum_c t_bc z_bc)                             (3)

A label stands for the target that is 1 at its class and 0 elsewhere. Label smoothing s (Szegedy et al. 2016)
replaces t with (1 - s) t + s / C.

Backward. In (3), the derivative of log-sum-exp with respect to z_bc is p_bc, and that of the sum is t_bc:

    dz = (p - t) / B                                                                       (4)

No exp or log remains: the gradient is the prediction minus the target.
"""

import numpy as np

from tinyvit.backend import Array, array_module


def cross_entropy(logits: Array, targets: Array, smoothing: float = 0.0) -> tuple[Array, tuple]:
    """Mean loss over the batch, in nats.

    logits (B, C); targets are integer labels (B,) or rows of probabilities (B, C); smoothing in [0, 1).
    Returns the loss, an array without axes (so that nothing has to wait for a GPU), and the cache. Raises
    ValueError for targets of another shape, for labels that are not whole numbers, and for labels out of
    range if they are in main memory, where checking them costs nothing.
    """
    xp = array_module(logits)
    t = _distributions(targets, logits, smoothing)  # (B, C)
    z = logits - logits.max(axis=1, keepdims=True)  # subtracting a constant from a row does not change (3)
    exp = xp.exp(z)
    total = exp.sum(axis=1, keepdims=True)  # (B, 1)
    z = xp.where(t, z, 0)  # a class that cannot be, z = -inf, costs nothing if it is not wanted either
    loss = (xp.log(total[:, 0]) - (t * z).sum(axis=1)).mean()  #                             eq. 3
    return loss, (exp / total, t)


def cross_entropy_backward(cache: tuple) -> Array:
    """Gradient of cross_entropy: dlogits (B, C)."""
    p, t = cache
    return (p - t) * (1 / len(p))  #                                                         eq. 4


def _distributions(targets: Array, logits: Array, smoothing: float) -> Array:
    """Targets as one distribution per row, (B, C), in the dtype of the logits."""
    xp = array_module(logits)
    B, C = logits.shape
    if targets.shape not in ((B,), (B, C)) or B == 0:
        raise ValueError(f"targets have shape {targets.shape}, expected ({B},) or ({B}, {C}), B at least 1")
    if targets.ndim == 1:
        if targets.dtype.kind not in "iu":
            raise ValueError(f"labels are {targets.dtype}, expected whole numbers")
        if xp is np and not 0 <= targets.min() <= targets.max() < C:
            raise ValueError(f"labels range from {targets.min()} to {targets.max()}, expected 0 to {C - 1}")
        t = (targets[:, None] == xp.arange(C)).astype(logits.dtype)
    else:
        t = targets.astype(logits.dtype)
    s = float(smoothing)  # a NumPy number would change the dtype
    return t * (1 - s) + s / C
