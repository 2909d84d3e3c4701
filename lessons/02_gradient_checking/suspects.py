"""Eight operations with a backward each, and one with three. Some of the backwards are wrong. Which?

Reading finds some of them. A gradient check finds all. SUSPECTS gives for each name the forward, the
backward, and inputs to try them on. forward(*inputs) returns (y, cache), and backward(dy, cache) a tuple with
a gradient for each input. PICKS has pairs of forward and backward; the inputs are left to you.
"""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    y = np.exp(x - x.max(axis=-1, keepdims=True))
    y /= y.sum(axis=-1, keepdims=True)
    return y, y


def softmax_backward(dy, y):
    jacobian = np.einsum("ri,ij->rij", y, np.eye(y.shape[-1])) - y[:, :, None] * y[:, None, :]
    return (np.einsum("rj,rij->ri", dy, jacobian),)


def log_softmax(x):
    z = x - x.max(axis=-1, keepdims=True)
    y = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return y, y


def log_softmax_backward(dy, y):
    return (dy - np.exp(y) * dy.sum(axis=-1, keepdims=True),)


def standard_rows(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    size = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    return centred / size, size


def standard_rows_backward(dy, size):
    return ((dy - dy.mean(axis=-1, keepdims=True)) / size,)


def scaled_tanh(x, scale=1.7):
    y = np.tanh(x)
    cache = y, scale
    y *= scale
    return y, cache


def scaled_tanh_backward(dy, cache):
    y, scale = cache
    return (dy * scale * (1 - y * y),)


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2))), x


def gelu_backward(dy, x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    t = np.tanh(inner)
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return (dy * 0.5 * (1 + t + x * (1 - t * t) * slope),)


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
    "standard rows": (standard_rows, standard_rows_backward, _inputs((3, 4))),
    "scaled tanh": (scaled_tanh, scaled_tanh_backward, _inputs((3, 4))),
    "gelu": (gelu, gelu_backward, _inputs((3, 4))),
    "swish": (swish, swish_backward, _inputs((3, 4))),
    "gate": (gate, gate_backward, _inputs((3, 4), (4,))),
    "rms rows": (rms_rows, rms_rows_backward, _inputs((3, 4), (4,))),
}


# The first number of each row, the one in its middle, and the last: (R, N) to (R, 3).


def pick(x):
    N = x.shape[1]
    columns = [0, N // 2, N - 1]
    return x[:, columns], (x.shape, columns)


def pick_backward_by_index(dy, cache):
    shape, columns = cache
    dx = np.zeros(shape)
    dx[:, columns] += dy
    return (dx,)


def pick_backward_by_matrix(dy, cache):
    shape, columns = cache
    chosen = np.array(columns)[:, None] == np.arange(shape[1])  # (3, N)
    return (dy @ chosen,)


def pick_backward_by_loop(dy, cache):
    shape, columns = cache
    dx = np.zeros(shape)
    for k, column in enumerate(columns):
        dx[:, column] += dy[:, k]
    return (dx,)


PICKS = {
    "by matrix": (pick, pick_backward_by_matrix),
    "by index": (pick, pick_backward_by_index),
    "by loop": (pick, pick_backward_by_loop),
}
