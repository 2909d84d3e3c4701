"""The answers of the core lessons as their texts derive them, one step a line.

tinyvit's own, which solution.py imports, are faster, and a step of theirs is often no step of the text.
"""

import math

import numpy as np

from tinyvit import ops


def normalise(images, dtype):
    x = images.astype(dtype)
    return x / 127.5 - 1


def softmax_backward(dy, cache):
    y = cache
    dx = y * (dy - (dy * y).sum(axis=-1, keepdims=True))
    return dx


def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    smooth = t * (1 - smoothing) + smoothing / C
    z = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(z).sum(axis=1, keepdims=True)
    loss = (np.log(total[:, 0]) - (smooth * z).sum(axis=1)).mean()
    p = np.exp(z) / total
    return loss, (p, smooth)


def cross_entropy_by_logarithms(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    smooth = t * (1 - smoothing) + smoothing / C
    z = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(z).sum(axis=1, keepdims=True)
    logp = z - np.log(total)
    loss = -(smooth * logp).sum(axis=1).mean()
    return loss, (np.exp(logp), smooth)


def cross_entropy_backward(cache):
    p, t = cache
    B = len(p)
    dlogits = (p - t) / B
    return dlogits


def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError(f"x is {x.dtype}, expected float64")
    gradient = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        kept = x[i]
        x[i] = kept + step
        above = loss()
        x[i] = kept - step
        below = loss()
        x[i] = kept
        gradient[i] = (above - below) / (2 * step)
    return gradient


def gradient_error(by_hand, numerical):
    distance = np.linalg.norm(by_hand - numerical)
    size = np.linalg.norm(by_hand) + np.linalg.norm(numerical)
    error = float(distance / max(size, 1e-3))
    return error if np.isfinite(error) else np.inf


def wrong_backwards(suspects, rng):
    names = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        is_right = len(gradients) == len(inputs)
        for x, by_hand in zip(inputs, gradients):  # noqa: B905 - they may be too few
            numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            if by_hand.shape != x.shape or not gradient_error(by_hand, numerical) < 1e-6:
                is_right = False
        if not is_right:
            names.append(name)
    return names


def linear(x, weight, bias):
    y = x @ weight + bias
    return y, (x, weight)


def linear_backward(dy, cache):
    x, weight = cache
    x_rows, dy_rows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    dx = dy @ weight.T
    dweight = x_rows.T @ dy_rows
    dbias = dy_rows.sum(axis=0)
    return dx, dweight, dbias


def gelu(x, form="tanh"):
    if form == "exact":
        y = x * (1 + ops.erf(x / math.sqrt(2))) / 2
    else:
        u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        y = x * (1 + np.tanh(u)) / 2
    return y, (x, form)


def gelu_backward(dy, cache):
    x, form = cache
    if form == "exact":
        phi = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        slope = (1 + ops.erf(x / math.sqrt(2))) / 2 + x * phi
    else:
        t = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
        du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
        slope = (1 + t) / 2 + x * (1 - t**2) * du / 2
    dx = dy * slope
    return dx


def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    h, cache1 = ops.linear(x, weight1, bias1)
    g, gelu_cache = gelu(h, gelu_form)
    y, cache2 = ops.linear(g, weight2, bias2)
    return y, (cache1, gelu_cache, cache2)


def mlp_backward(dy, cache):
    cache1, gelu_cache, cache2 = cache
    dg, dweight2, dbias2 = ops.linear_backward(dy, cache2)
    dh = gelu_backward(dg, gelu_cache)
    dx, dweight1, dbias1 = ops.linear_backward(dh, cache1)
    return dx, dweight1, dbias1, dweight2, dbias2


def class_token(x, token):
    first = np.broadcast_to(token, (len(x), 1, len(token)))
    y = np.concatenate([first, x], axis=1)
    return y, None


def class_token_backward(dy, cache):
    dx = dy[:, 1:]
    dtoken = dy[:, 0].sum(axis=0)
    return dx, dtoken


def position_embedding_backward(dy, cache):
    dembedding = dy.sum(axis=0)
    return dy, dembedding


def single_head(q, k, v):
    K = q.shape[-1]
    S = q @ k.swapaxes(-1, -2) / math.sqrt(K)
    A = ops.softmax(S)[0]
    y = A @ v
    return y, (q, k, v, A)


def single_head_backward(dy, cache):
    q, k, v, A = cache
    K = q.shape[-1]
    dv = A.swapaxes(-1, -2) @ dy
    dA = dy @ v.swapaxes(-1, -2)
    dS = ops.softmax_backward(dA, A) / math.sqrt(K)
    dq = dS @ k
    dk = dS.swapaxes(-1, -2) @ q
    return dq, dk, dv


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    B, N, D = x.shape
    K = D // heads
    qkv, qkv_cache = ops.linear(x, qkv_weight, qkv_bias)
    q, k, v = qkv.reshape(B, N, 3, heads, K).transpose(2, 0, 3, 1, 4)
    S = q @ k.swapaxes(-1, -2) / math.sqrt(K)
    A = ops.softmax(S)[0]
    mix = A @ v
    joined = mix.transpose(0, 2, 1, 3).reshape(B, N, D)
    y, out_cache = ops.linear(joined, out_weight, out_bias)
    return y, (q, k, v, A, qkv_cache, out_cache)


def attention_backward(dy, cache):
    q, k, v, A, qkv_cache, out_cache = cache
    B, H, N, K = q.shape
    djoined, dout_weight, dout_bias = ops.linear_backward(dy, out_cache)
    dmix = djoined.reshape(B, N, H, K).transpose(0, 2, 1, 3)
    dv = A.swapaxes(-1, -2) @ dmix
    dA = dmix @ v.swapaxes(-1, -2)
    dS = ops.softmax_backward(dA, A) / math.sqrt(K)
    dq = dS @ k
    dk = dS.swapaxes(-1, -2) @ q
    sides = [each.transpose(0, 2, 1, 3).reshape(B, N, H * K) for each in (dq, dk, dv)]
    dqkv = np.concatenate(sides, axis=-1)
    dx, dqkv_weight, dqkv_bias = ops.linear_backward(dqkv, qkv_cache)
    return dx, dqkv_weight, dqkv_bias, dout_weight, dout_bias


def layer_norm(x, weight, bias, eps=1e-6):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    r = 1 / np.sqrt(variance + eps)
    n = centred * r
    y = n * weight + bias
    return y, (n, r, weight)


def layer_norm_backward(dy, cache):
    n, r, weight = cache
    rows = tuple(range(dy.ndim - 1))
    g = dy * weight
    dx = r * (g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))
    dweight = (dy * n).sum(axis=rows)
    dbias = dy.sum(axis=rows)
    return dx, dweight, dbias


def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    w = w - lr * weight_decay * w
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g**2
    m_hat = m / (1 - b1**step)
    v_hat = v / (1 - b2**step)
    w = w - lr * m_hat / (np.sqrt(v_hat) + eps)
    return w, m, v


def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * step / warmup
    done = (step - 1 - warmup) / (total - warmup)
    if decay == "linear":
        return peak * (1 - done)
    return peak * (1 + math.cos(math.pi * done)) / 2
