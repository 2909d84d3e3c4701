"""A Vision Transformer that trains, from an empty file: NumPy, and nothing else.

    python lessons/10_from_an_empty_file/solution.py

B images, N tokens (T patches and the class token), D width, H heads of K numbers, M MLP width, C classes.
"""

import math

import numpy as np

NANO = {"image": 32, "patch": 4, "width": 64, "mlp": 128, "heads": 4, "layers": 4, "classes": 10}


# Operations: each forward returns its result and what its backward needs.


def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)


def linear_backward(dy, cache):
    x, weight = cache
    rows, drows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, rows.T @ drows, drows.sum(axis=0)


def layer_norm(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6)
    n = centred * scale
    return n * gain + bias, (n, scale, gain)


def layer_norm_backward(dy, cache):
    n, scale, gain = cache
    g = dy * gain
    dx = scale * (g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))
    return dx, (dy * n).reshape(-1, n.shape[-1]).sum(axis=0), dy.reshape(-1, n.shape[-1]).sum(axis=0)


def gelu(x):
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    gate = 0.5 * (1 + np.tanh(u))
    return x * gate, (x, gate)


def gelu_backward(dy, cache):
    x, gate = cache
    du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return dy * (gate + 2 * x * gate * (1 - gate) * du)


def softmax(x):
    y = np.exp(x - x.max(axis=-1, keepdims=True))
    return y / y.sum(axis=-1, keepdims=True)


def softmax_backward(dy, y):
    return y * (dy - (dy * y).sum(axis=-1, keepdims=True))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    (B, N, D), root = x.shape, math.sqrt(x.shape[-1] // heads)
    qkv, qkv_cache = linear(x, qkv_weight, qkv_bias)
    q, k, v = qkv.reshape(B, N, 3, heads, D // heads).transpose(2, 0, 3, 1, 4)  # each (B, H, N, K)
    A = softmax(q @ k.swapaxes(-1, -2) / root)  # (B, H, N, N)
    mix = (A @ v).swapaxes(1, 2).reshape(B, N, D)
    y, out_cache = linear(mix, out_weight, out_bias)
    return y, (q, k, v, A, qkv_cache, out_cache)


def attention_backward(dy, cache):
    q, k, v, A, qkv_cache, out_cache = cache
    B, H, N, K = q.shape
    dmix, dout_weight, dout_bias = linear_backward(dy, out_cache)
    dmix = dmix.reshape(B, N, H, K).swapaxes(1, 2)
    dv = A.swapaxes(-1, -2) @ dmix
    dS = softmax_backward(dmix @ v.swapaxes(-1, -2), A) / math.sqrt(K)
    dq, dk = dS @ k, dS.swapaxes(-1, -2) @ q
    dqkv = np.stack([dq, dk, dv]).transpose(1, 3, 0, 2, 4).reshape(B, N, 3 * H * K)
    dx, dqkv_weight, dqkv_bias = linear_backward(dqkv, qkv_cache)
    return dx, dqkv_weight, dqkv_bias, dout_weight, dout_bias


# The model.


def shapes(config):
    """Every parameter's name and shape."""
    D, M, C, P = config["width"], config["mlp"], config["classes"], config["patch"]
    N = (config["image"] // P) ** 2 + 1
    table = {"patch.weight": (3 * P * P, D), "patch.bias": (D,), "class_token": (D,), "position": (N, D)}
    for i in range(config["layers"]):
        table |= {f"blocks.{i}.norm1.weight": (D,), f"blocks.{i}.norm1.bias": (D,)}
        table |= {f"blocks.{i}.attn.qkv.weight": (D, 3 * D), f"blocks.{i}.attn.qkv.bias": (3 * D,)}
        table |= {f"blocks.{i}.attn.out.weight": (D, D), f"blocks.{i}.attn.out.bias": (D,)}
        table |= {f"blocks.{i}.norm2.weight": (D,), f"blocks.{i}.norm2.bias": (D,)}
        table |= {f"blocks.{i}.mlp.fc1.weight": (D, M), f"blocks.{i}.mlp.fc1.bias": (M,)}
        table |= {f"blocks.{i}.mlp.fc2.weight": (M, D), f"blocks.{i}.mlp.fc2.bias": (D,)}
    return table | {"norm.weight": (D,), "norm.bias": (D,), "head.weight": (D, C), "head.bias": (C,)}


def init(config, rng):
    params = {}
    for name, shape in shapes(config).items():
        if name == "position":
            values = rng.normal(0, 0.02, shape)
        elif len(shape) == 2 and name != "head.weight":
            limit = math.sqrt(6 / sum(shape))
            values = rng.uniform(-limit, limit, shape)
        else:
            values = np.full(shape, 1.0 if "norm" in name and name.endswith("weight") else 0.0)
        params[name] = values.astype(np.float32)
    return params


def group(params, prefix):
    """The arrays of one operation, in the order in which it takes them."""
    return [params[name] for name in params if name.startswith(prefix + ".")]


def patchify(images, P):
    B, height, width, channels = images.shape
    cut = images.reshape(B, height // P, P, width // P, P, channels)
    return cut.swapaxes(2, 3).reshape(B, -1, P * P * channels)


def forward(config, params, images):
    x, patch = linear(patchify(images, config["patch"]), *group(params, "patch"))
    token = np.broadcast_to(params["class_token"], (len(x), 1, x.shape[-1]))
    x = np.concatenate([token, x], axis=1) + params["position"]  # (B, N, D)
    blocks = []
    for i in range(config["layers"]):
        n, norm1 = layer_norm(x, *group(params, f"blocks.{i}.norm1"))
        a, attn = attention(n, *group(params, f"blocks.{i}.attn"), config["heads"])
        x = x + a
        n, norm2 = layer_norm(x, *group(params, f"blocks.{i}.norm2"))
        h, fc1 = linear(n, *group(params, f"blocks.{i}.mlp.fc1"))
        g, bend = gelu(h)
        m, fc2 = linear(g, *group(params, f"blocks.{i}.mlp.fc2"))
        x = x + m
        blocks.append((norm1, attn, norm2, fc1, bend, fc2))
    x, norm = layer_norm(x, *group(params, "norm"))
    logits, head = linear(x[:, 0], *group(params, "head"))
    return logits, (patch, blocks, norm, head)


def loss_and_grads(config, params, images, labels):
    logits, (patch, blocks, norm, head) = forward(config, params, images)
    p, rows = softmax(logits), np.arange(len(labels))
    loss = -np.log(p[rows, labels]).mean()

    grads = {}

    def keep(prefix, *gradients):
        names = [name for name in params if name.startswith(prefix + ".")]
        grads.update(zip(names, gradients, strict=True))

    dlogits = p
    dlogits[rows, labels] -= 1
    dlogits /= len(labels)
    dtoken, *dhead = linear_backward(dlogits, head)
    keep("head", *dhead)
    dy = np.zeros_like(norm[0])
    dy[:, 0] = dtoken
    dx, *dnorm = layer_norm_backward(dy, norm)
    keep("norm", *dnorm)
    for i in reversed(range(config["layers"])):
        norm1, attn, norm2, fc1, bend, fc2 = blocks[i]
        dg, *dfc2 = linear_backward(dx, fc2)
        keep(f"blocks.{i}.mlp.fc2", *dfc2)
        dn, *dfc1 = linear_backward(gelu_backward(dg, bend), fc1)
        keep(f"blocks.{i}.mlp.fc1", *dfc1)
        dbranch, *dnorm2 = layer_norm_backward(dn, norm2)
        keep(f"blocks.{i}.norm2", *dnorm2)
        dx = dx + dbranch
        dn, *dattn = attention_backward(dx, attn)
        keep(f"blocks.{i}.attn", *dattn)
        dbranch, *dnorm1 = layer_norm_backward(dn, norm1)
        keep(f"blocks.{i}.norm1", *dnorm1)
        dx = dx + dbranch
    grads["position"] = dx.sum(axis=0)
    grads["class_token"] = dx[:, 0].sum(axis=0)
    _, *dpatch = linear_backward(dx[:, 1:], patch)
    keep("patch", *dpatch)
    return loss, grads


# Training.


def update(params, grads, state, lr):
    """One Adam step, in place."""
    step = state["step"] = state.get("step", 0) + 1
    for name, g in grads.items():
        m, v = state.setdefault(name, (np.zeros_like(g), np.zeros_like(g)))
        m += 0.1 * (g - m)
        v += 0.001 * (g * g - v)
        params[name] -= lr * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)


def normalise(images):
    return images.astype(np.float32) / 127.5 - 1


def shift_and_mirror(images, rng):
    """Each image shifted by up to two pixels, its edges reflected, and half of them mirrored."""
    B, size = images.shape[:2]
    padded = np.pad(images, ((0, 0), (2, 2), (2, 2), (0, 0)), mode="reflect")
    down, right = np.arange(size) + rng.integers(0, 5, (2, B, 1))  # (B, size) each
    right = np.where(rng.random((B, 1)) < 0.5, right[:, ::-1], right)
    return padded[np.arange(B)[:, None, None], down[:, :, None], right[:, None]]


def predict(config, params, images):
    parts = [images[start : start + 100] for start in range(0, len(images), 100)]
    return np.concatenate([forward(config, params, normalise(part))[0].argmax(axis=1) for part in parts])


def train(config, images, labels, epochs, seed=0, report=print):
    rng = np.random.default_rng(seed)
    params, state, batch, peak = init(config, rng), {}, 50, 2e-3
    total, done = epochs * math.ceil(len(images) / batch), 0
    for epoch in range(1, epochs + 1):
        order, losses = rng.permutation(len(images)), []
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            shown = normalise(shift_and_mirror(images[rows], rng))
            loss, grads = loss_and_grads(config, params, shown, labels[rows])
            norm = math.sqrt(sum(float((g * g).sum()) for g in grads.values()))
            for g in grads.values():
                g *= min(1.0, 1 / norm)
            warm = max(1, total // 20)
            lr = peak * min((done + 1) / warm, 0.5 + 0.5 * math.cos(math.pi * done / total))
            update(params, grads, state, lr)
            losses.append(float(loss))
            done += 1
        report(f"epoch {epoch}/{epochs}  loss {np.mean(losses):.3f}")
    return params


if __name__ == "__main__":
    from tinyvit.data.shapes import make_shapes

    data = make_shapes()
    trained = train(NANO, data.train.images, data.train.labels, epochs=5)
    right = predict(NANO, trained, data.test.images) == data.test.labels
    print(f"test accuracy {right.mean():.1%}")
