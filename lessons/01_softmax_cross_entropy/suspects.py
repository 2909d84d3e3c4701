"""One loss and three ways back. One of the ways is wrong, but not for all inputs: which, and for which?

The loss is the cross-entropy of (cross entropy 2) as it stands: logits and targets are both inputs, and both
get a gradient. Each way is a pair, forward(logits, targets) -> (loss, cache) and
backward(dloss, cache) -> (dlogits, dtargets).
"""

import numpy as np


def forward(logits, targets):
    z = logits - logits.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))  # (B, C)
    return -(targets * log_p).sum() / len(logits), (log_p, targets)


def short_way(dloss, cache):
    log_p, t = cache
    B = len(t)
    return dloss * (np.exp(log_p) - t) / B, -dloss * log_p / B


def through_the_log(dloss, cache):
    log_p, t = cache
    B = len(t)
    dlog_p = -dloss * t / B
    dlogits = dlog_p - np.exp(log_p) * dlog_p.sum(axis=1, keepdims=True)
    return dlogits, -dloss * log_p / B


def row_by_row(dloss, cache):
    log_p, t = cache
    B, C = t.shape
    dlogits = np.zeros((B, C))
    for b in range(B):
        for j in range(C):
            for i in range(C):
                dlogits[b, i] -= dloss * t[b, j] * ((i == j) - np.exp(log_p[b, i])) / B
    return dlogits, -dloss * log_p / B


SUSPECTS = {
    "the short way": (forward, short_way),
    "through the log": (forward, through_the_log),
    "row by row": (forward, row_by_row),
}
