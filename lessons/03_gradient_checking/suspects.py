"""Six operations with a backward each. Three of the backwards are wrong. Which?

Reading finds some of them. A gradient check finds all. SUSPECTS gives for each name the forward, the
backward, and inputs to try them on. forward(*inputs) returns (y, cache), and backward(dy, cache) a tuple with
a gradient for each input.
"""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    y = np.exp(x - x.max(axis=-1, keepdims=True))
    y /= y.sum(axis=-1, keepdims=True)
    return y, y


def softmax_backward(dy, y):
    return (y * (dy - dy.mean(axis=-1, keepdims=True)),)


def log_softmax(x):
    z = x - x.max(axis=-1, keepdims=True)
    y = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return y, y


def log_softmax_backward(dy, y):
    return (dy - np.exp(y) * dy.sum(axis=-1, keepdims=True),)


def scaled_tanh(x, scale=1.7):
    y = np.tanh(x)
    cache = y, scale
    y *= scale
    return y, cache


def scaled_tanh_backward(dy, cache):
    y, scale = cache
    return (dy * scale * (1 - y * y),)


def swish(x):
    s = sigmoid(x)
    y = x * s
    return y, (y, s)


def swish_backward(dy, cache):
    y, s = cache
    return (dy * (s + y * (1 - s)),)


def gate(x, weight):
    s = sigmoid(weight)
    y = x * s
    return y, (y, s)


def gate_backward(dy, cache):
    y, s = cache
    return dy * s, (dy * y).sum(axis=0) * (1 - s)


def rms_rows(x, gain):
    size = np.sqrt((x * x).mean(axis=-1, keepdims=True))
    n = x / size
    y = n * gain
    return y, (n, y, size, gain)


def rms_rows_backward(dy, cache):
    n, y, size, gain = cache
    g = dy * gain
    dx = (g - n * (g * n).mean(axis=-1, keepdims=True)) / size
    return dx, (dy * y).sum(axis=0)


def _inputs(*shapes):
    rng = np.random.default_rng(3)
    return tuple(rng.normal(0.5, 1.0, shape) for shape in shapes)


SUSPECTS = {
    "softmax": (softmax, softmax_backward, _inputs((3, 4))),
    "log softmax": (log_softmax, log_softmax_backward, _inputs((3, 4))),
    "scaled tanh": (scaled_tanh, scaled_tanh_backward, _inputs((3, 4))),
    "swish": (swish, swish_backward, _inputs((3, 4))),
    "gate": (gate, gate_backward, _inputs((3, 4), (4,))),
    "rms rows": (rms_rows, rms_rows_backward, _inputs((3, 4), (4,))),
}
