"""`python -m tinyvit.in_one_file [FOLDER]`: the whole Vision Transformer in one file.

    python -m tinyvit.in_one_file                        ten kinds of silhouettes, drawn by this file
    python -m tinyvit.in_one_file cifar-10-batches-bin   CIFAR-10, from the folder of its binary version

The model is that of Dosovitskiy et al. 2020, "An Image is Worth 16x16 Words". An operation has two functions.
`y, cache = op(x, ...)` returns the result and what the backward pass needs. `dx, ... = op_backward(dy,
cache)` takes dy, the gradient of the loss with respect to y, through the steps of op in reverse. It returns
the gradients with respect to x and to the parameters, in the order in which op takes them.

Sizes: B images, P pixels along each side of a patch, T patches, N = T + 1 tokens, D width of a token, H heads
of width K = D / H, M width of the MLP, C classes. A linear layer has I inputs and O outputs.
"""

import math
import os
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

if __name__ == "__main__":  # before NumPy is imported: for matrices this small, one thread is fastest
    os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np  # its functions pass CuPy's arrays on to CuPy, so all of this runs on a GPU, too

CONFIG = {"image": 32, "patch": 4, "width": 64, "mlp": 128, "heads": 4, "layers": 4, "classes": 10}


# -- The operations ------------------------------------------------------------------------------------------
def linear(x, weight, bias):
    """y = x weight + bias for every row of x (..., I), with weight (I, O) and bias (O,)."""
    rows = x.reshape(-1, x.shape[-1])  # one product of large matrices is faster than one for each image
    return (rows @ weight + bias).reshape(*x.shape[:-1], -1), (rows, weight)


def linear_backward(dy, cache):
    rows, weight = cache
    drows = dy.reshape(-1, dy.shape[-1])
    dx = (drows @ weight.T).reshape(*dy.shape[:-1], -1)
    return dx, rows.T @ drows, drows.sum(axis=0)


def layer_norm(x, weight, bias):
    """Shift every row of x (..., D) to mean 0 and scale it to variance 1; then apply a gain and an offset."""
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6)  # (..., 1)
    n = centred * scale
    return n * weight + bias, (n, scale, weight)


def layer_norm_backward(dy, cache):
    n, scale, weight = cache
    dn, D = dy * weight, n.shape[-1]
    # Shifting or scaling a row of x does not change n, so these two directions are removed from dn.
    dx = scale * (dn - dn.mean(axis=-1, keepdims=True) - n * (dn * n).mean(axis=-1, keepdims=True))
    return dx, (dy * n).reshape(-1, D).sum(axis=0), dy.reshape(-1, D).sum(axis=0)


def gelu(x):
    """x times a gate that opens smoothly from 0 to 1 as x grows: the tanh form, as in the official code."""
    gate = 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return x * gate, (x, gate)


def gelu_backward(dy, cache):
    x, gate = cache
    slope = 2 * gate * (1 - gate) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)  # of the gate
    return dy * (gate + x * slope)


def softmax(x):
    """Every row of x (..., N) becomes a row of positive numbers that sum to 1."""
    y = np.exp(x - x.max(axis=-1, keepdims=True))  # subtracting the maximum keeps exp from overflowing
    y /= y.sum(axis=-1, keepdims=True)
    return y, y


def softmax_backward(dy, y):
    return y * (dy - (dy * y).sum(axis=-1, keepdims=True))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Each token of x (B, N, D) gathers values from all tokens, weighted by how its query fits their keys."""
    B, N, D = x.shape
    qkv, qkv_cache = linear(x, qkv_weight, qkv_bias)  # (B, N, 3 D)
    q, k, v = qkv.reshape(B, N, 3, heads, D // heads).transpose(2, 0, 3, 1, 4)  # each (B, H, N, K)
    A, softmax_cache = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(D // heads))  # (B, H, N, N)
    o = (A @ v).swapaxes(1, 2).reshape(B, N, D)  # the heads side by side
    y, out_cache = linear(o, out_weight, out_bias)
    return y, (qkv_cache, q, k, v, A, softmax_cache, out_cache)


def attention_backward(dy, cache):
    qkv_cache, q, k, v, A, softmax_cache, out_cache = cache
    B, H, N, K = q.shape
    do, *dout = linear_backward(dy, out_cache)
    do = do.reshape(B, N, H, K).swapaxes(1, 2)  # (B, H, N, K)
    dA, dv = do @ v.swapaxes(-1, -2), A.swapaxes(-1, -2) @ do
    dS = softmax_backward(dA, softmax_cache)  # (B, H, N, N)
    dq, dk = dS @ k / math.sqrt(K), dS.swapaxes(-1, -2) @ q / math.sqrt(K)
    dqkv = np.stack([dq, dk, dv]).transpose(1, 3, 0, 2, 4).reshape(B, N, 3 * H * K)
    dx, *dqkv_layer = linear_backward(dqkv, qkv_cache)
    return dx, *dqkv_layer, *dout


def cross_entropy(logits, labels):
    """The mean of -log p[label] over B images, p being the softmax of the logits (B, C); and its gradient."""
    p, _ = softmax(logits)
    target = labels[:, None] == np.arange(p.shape[1], like=labels)  # (B, C), on the device of labels
    return -np.log(p[target]).mean(), (p - target) / len(p)


# -- The model -----------------------------------------------------------------------------------------------
def init(config, rng):
    """The initial parameters: a dict of float32 arrays, in the order in which the forward pass uses them."""
    D, M, C, P = config["width"], config["mlp"], config["classes"], config["patch"]
    N = (config["image"] // P) ** 2 + 1
    xavier = lambda I, O: rng.uniform(-1, 1, (I, O)) * math.sqrt(6 / (I + O))  # Glorot and Bengio 2010
    layer = lambda name, I, O: {f"{name}.weight": xavier(I, O), f"{name}.bias": np.zeros(O)}
    norm = lambda name: {f"{name}.weight": np.ones(D), f"{name}.bias": np.zeros(D)}
    params = layer("patch", P * P * 3, D)
    params |= {"class_token": np.zeros(D), "position": rng.normal(0, 0.02, (N, D))}
    for i in range(config["layers"]):
        b = f"blocks.{i}"
        params |= norm(f"{b}.norm1") | layer(f"{b}.attn.qkv", D, 3 * D) | layer(f"{b}.attn.out", D, D)
        params |= norm(f"{b}.norm2") | layer(f"{b}.mlp.fc1", D, M) | layer(f"{b}.mlp.fc2", M, D)
    params |= norm("norm") | {"head.weight": np.zeros((D, C)), "head.bias": np.zeros(C)}
    return {name: array.astype(np.float32) for name, array in params.items()}


def group(params, prefix):
    """The parameters under a prefix, in the order in which their operation takes them."""
    return [array for name, array in params.items() if name.startswith(f"{prefix}.")]


def patchify(images, P):
    """Cut images (B, height, width, 3) into patches and flatten each into a row: (B, T, P P 3)."""
    B, height, width, channels = images.shape
    grid = images.reshape(B, height // P, P, width // P, P, channels)
    return grid.swapaxes(2, 3).reshape(B, -1, P * P * channels)


def block(x, params, name, heads):
    """A pre-norm Transformer block, from tokens (B, N, D) to tokens (B, N, D)."""
    n, norm1_cache = layer_norm(x, *group(params, f"{name}.norm1"))
    a, attn_cache = attention(n, *group(params, f"{name}.attn"), heads)
    x = x + a  # eq. 2 of the paper
    n, norm2_cache = layer_norm(x, *group(params, f"{name}.norm2"))
    h, fc1_cache = linear(n, *group(params, f"{name}.mlp.fc1"))  # (B, N, M)
    g, gelu_cache = gelu(h)
    m, fc2_cache = linear(g, *group(params, f"{name}.mlp.fc2"))
    return x + m, (norm1_cache, attn_cache, norm2_cache, fc1_cache, gelu_cache, fc2_cache)  # eq. 3


def block_backward(dy, cache):
    norm1_cache, attn_cache, norm2_cache, fc1_cache, gelu_cache, fc2_cache = cache
    dg, *dfc2 = linear_backward(dy, fc2_cache)
    dh = gelu_backward(dg, gelu_cache)
    dn, *dfc1 = linear_backward(dh, fc1_cache)
    dbranch, *dnorm2 = layer_norm_backward(dn, norm2_cache)
    dx = dy + dbranch  # x enters the sum directly and through the branch, so both gradients are added
    dn, *dattn = attention_backward(dx, attn_cache)
    dbranch, *dnorm1 = layer_norm_backward(dn, norm1_cache)
    return dx + dbranch, *dnorm1, *dattn, *dnorm2, *dfc1, *dfc2


def forward(config, params, images):
    """The logits (B, C) of images (B, height, width, 3) with pixels from -1 to 1, and the cache."""
    x, patch_cache = linear(patchify(images, config["patch"]), *group(params, "patch"))  # (B, T, D)
    class_token = np.broadcast_to(params["class_token"], (len(x), 1, x.shape[-1]))
    x = np.concatenate([class_token, x], axis=1) + params["position"]  # (B, N, D), eq. 1
    block_caches = []
    for i in range(config["layers"]):
        x, cache = block(x, params, f"blocks.{i}", config["heads"])
        block_caches.append(cache)
    x, norm_cache = layer_norm(x, *group(params, "norm"))
    logits, head_cache = linear(x[:, 0], *group(params, "head"))  # the head reads the class token only, eq. 4
    return logits, (patch_cache, block_caches, norm_cache, x, head_cache)


def loss_and_grads(config, params, images, labels):
    """The loss, and its gradients with respect to all parameters: forward, then the same in reverse."""
    logits, (patch_cache, block_caches, norm_cache, x, head_cache) = forward(config, params, images)
    loss, dlogits = cross_entropy(logits, labels)
    dx = np.zeros_like(x)
    dx[:, 0], *dhead = linear_backward(dlogits, head_cache)
    dx, *dnorm = layer_norm_backward(dx, norm_cache)
    dblocks = []
    for cache in reversed(block_caches):
        dx, *dblock = block_backward(dx, cache)
        dblocks = dblock + dblocks
    dposition, dclass_token = dx.sum(axis=0), dx[:, 0].sum(axis=0)
    _, *dpatch = linear_backward(dx[:, 1:], patch_cache)
    return loss, dict(zip(params, [*dpatch, dclass_token, dposition, *dblocks, *dnorm, *dhead], strict=True))


# -- Training ------------------------------------------------------------------------------------------------
def update(params, grads, state, lr, decay=0.0, clip=math.inf):
    """One step of AdamW, in place, on gradients that are scaled to a joint norm of at most clip."""
    norm = np.sqrt(sum((g * g).sum() for g in grads.values()))
    scale = np.minimum(1.0, clip / (norm + 1e-6))
    state["step"] = t = state.get("step", 0) + 1  # state is an empty dict before the first step
    for name in grads:
        w, g = params[name], grads[name] * scale
        m, v = state.setdefault(name, (np.zeros_like(g), np.zeros_like(g)))
        m += 0.1 * (g - m)  # the running mean of the gradient
        v += 0.001 * (g * g - v)  # and of its square; both start at 0, which is corrected for below
        if name.endswith(".weight") and w.ndim == 2:  # only the matrices of linear layers decay
            w *= 1 - lr * decay
        w -= lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


def normalise(images, like):
    """Bytes as float32 from -1 to 1, on the device on which the array `like` is."""
    return np.asarray(images, like=like).astype(np.float32) / 127.5 - 1


def predict(config, params, images):
    """The most likely label (n,) of each image, uint8 (n, height, width, 3)."""
    batches = [images[start : start + 100] for start in range(0, len(images), 100)]
    logits = [forward(config, params, normalise(batch, like=params["position"]))[0] for batch in batches]
    return np.concatenate([z.argmax(axis=1).tolist() for z in logits])


def train(config, images, labels, epochs, seed=0, report=print, test=None, xp=np):
    """Train on images, uint8 (n, height, width, 3), and labels (n,), and return the parameters. xp is NumPy
    or CuPy. report gets a line after each epoch, with the accuracy on test, further images and labels."""
    rng, batch, peak = np.random.default_rng(seed), 15, 1.5e-3
    params, state = {name: xp.asarray(array) for name, array in init(config, rng).items()}, {}
    step, total = 0, epochs * math.ceil(len(images) / batch)
    warmup = math.ceil(total / 20)
    for epoch in range(1, epochs + 1):
        began, losses, order = time.perf_counter(), [], rng.permutation(len(images))
        for start in range(0, len(order), batch):
            step += 1
            rows = order[start : start + batch]
            x = np.roll(images[rows], rng.integers(-2, 3, 2), axis=(1, 2))  # all moved by up to two pixels
            x = x[:, :, ::-1] if rng.random() < 0.5 else x  # mirrored, half of the time
            x = normalise(x, like=params["position"])
            loss, grads = loss_and_grads(config, params, x, np.asarray(labels[rows], like=x))
            decayed = max(0, step - 1 - warmup) / max(1, total - warmup)
            lr = peak * min(1, step / warmup) * (1 + math.cos(math.pi * decayed)) / 2  # warm-up, cosine
            update(params, grads, state, lr, decay=0.05, clip=1.0)
            losses.append(float(loss))
        speed = len(images) / (time.perf_counter() - began)
        line = f"epoch {epoch}/{epochs}  loss {np.mean(losses):.3f}  "
        if test:
            line += f"test accuracy {np.mean(predict(config, params, test[0]) == test[1]):.1%}  "
        report(f"{line}{speed:.0f} images/s")
    return params


# -- The data ------------------------------------------------------------------------------------------------
SILHOUETTES = (  # each is True inside, for points (x, y) of the unit disc, y upwards, and symmetric in x
    lambda x, y: np.hypot(x, y) < 0.85,  # disc
    lambda x, y: abs(np.hypot(x, y) - 0.7) < 0.22,  # ring
    lambda x, y: np.maximum(abs(x), abs(y)) < 0.7,  # square
    lambda x, y: (y > -0.5) & (y < 0.95 - 1.7 * abs(x)),  # triangle
    lambda x, y: (np.minimum(abs(x), abs(y)) < 0.27) & (np.maximum(abs(x), abs(y)) < 0.9),  # cross
    lambda x, y: np.hypot(x, y) < 0.65 + 0.3 * np.sin(5 * np.arctan2(y, x)),  # star
    lambda x, y: (np.hypot(x, y) < 0.95) & (np.hypot(x, y - 0.5) > 0.72),  # crescent
    lambda x, y: (2 * (x * x + y * y) - 1) ** 3 < 5 * x * x * y**3,  # heart
    lambda x, y: np.hypot(abs(x) + 0.9, y) < 1.33,  # leaf
    lambda x, y: (abs(y) < 0.9) & (abs(x) < np.where(y > 0, 0.82 - 0.9 * y, 0.24)),  # arrow
)


def draw_pictures(n, rng):
    """n pictures, uint8 (n, 32, 32, 3), with two silhouettes of one kind each, and their kinds as labels."""
    images, labels = np.empty((n, 32, 32, 3), dtype=np.uint8), np.arange(n) % len(SILHOUETTES)
    x, y = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(1, -1, 64))  # 2 x 2 points in each pixel
    for image, label in zip(images, labels, strict=True):
        inside = np.zeros((64, 64), dtype=bool)
        for radius in rng.uniform(0.35, 0.5, 2):
            right, up = rng.uniform(radius - 1, 1 - radius, 2)
            inside |= SILHOUETTES[label]((x - right) / radius, (y - up) / radius)
        coverage = inside.reshape(32, 2, 32, 2).mean(axis=(1, 3))[..., None]  # of each pixel, from 0 to 1
        ground, colour = rng.uniform(0, 100, 3), rng.uniform(155, 255, 3)
        image[:] = ground + coverage * (colour - ground)
    return images, labels


def read_cifar10(folder):
    """The training and the test set, each images and labels. A record is a label and 3 x 32 x 32 pixels."""
    files = []
    for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        data = Path(folder, name).read_bytes()
        if not data or len(data) % 3073:
            raise ValueError(f"{name} is empty or cut short")
        rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3073)
        files.append((rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]))
    return [np.concatenate(arrays) for arrays in zip(*files[:5], strict=True)], files[5]


def parser():
    parser = ArgumentParser("tinyvit.in_one_file", description="The whole Vision Transformer in one file.")
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="CIFAR-10 (default: draw silhouettes)")
    return parser


def main(args):
    rng = np.random.default_rng(0)
    try:
        drawn = args.folder is None
        training, test = [draw_pictures(n, rng) for n in (5000, 1000)] if drawn else read_cifar10(args.folder)
    except (OSError, ValueError) as error:
        print(f"tinyvit.in_one_file: error: not CIFAR-10's binary version: {error!s:.300}", file=sys.stderr)
        return 2
    try:
        import cupy as xp

        xp.cuda.runtime.getDeviceCount()  # raises an error without a GPU
    except Exception:  # CuPy, its libraries or the GPU are missing
        xp = np
    train(CONFIG, *training, epochs=6, test=test, xp=xp)
    print("Next: tinyvit/model/vit.py, the same model in the library, or lessons/, to write it yourself.")


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
