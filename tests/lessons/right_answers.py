"""Right answers that are written otherwise than the solutions: loops, einsum, other caches, another order.

Each text replaces the functions of the lesson that have its names. No check may refuse any of them.
"""

RIGHT = {
    "00_pixels": """
def normalise(images, dtype):
    table = np.linspace(-1, 1, 256)  # a table of all bytes
    return np.take(table, images).astype(dtype)

def class_scores(images, weight, bias):
    scores = np.einsum("nhwc,hwcs->ns", images, weight.reshape(*images.shape[1:], -1))
    return bias + scores

def mean_templates(x, labels, classes):
    weight, bias = np.zeros((x.shape[1], classes), x.dtype), np.zeros(classes, x.dtype)
    for c in range(classes):
        rows = [row for row, label in zip(x, labels) if label == c]
        weight[:, c] = sum(rows) / len(rows)
        bias[c] = -0.5 * weight[:, c] @ weight[:, c]
    return weight, bias

def read_templates(scores, shape):
    size = shape[0] * shape[1] * shape[2]
    asked = np.concatenate([np.zeros((1, size)), np.eye(size)]).reshape(size + 1, *shape)
    answers = scores(asked)
    return answers[1:] - answers[0], answers[0].copy()
""",
    "01_softmax_cross_entropy": """
def softmax_backward(dy, cache):
    weighted = dy * cache
    return weighted - cache * weighted.sum(axis=-1, keepdims=True)

def cross_entropy(logits, targets, smoothing=0.0):
    B, C = logits.shape
    if targets.ndim == 1:
        t = np.zeros_like(logits)
        t[np.arange(B), targets] = 1
    else:
        t = np.array(targets, dtype=logits.dtype)
    t = t * (1.0 - smoothing) + smoothing / C
    z = logits - np.max(logits, axis=1)[:, None]
    logp = z - np.log(np.sum(np.exp(z), axis=1))[:, None]
    return -np.sum(np.where(t > 0, t * logp, 0)) / B, {"logp": logp, "t": t}

def cross_entropy_backward(cache):
    dlogits = np.exp(cache["logp"])
    dlogits -= cache["t"]
    return dlogits / len(dlogits)

def log_sum_exp_in_pieces(pieces):
    total = None
    for piece in pieces:
        most = piece.max(axis=1)
        this = most + np.log(np.exp(piece - most[:, None]).sum(axis=1))
        total = this if total is None else np.logaddexp(total, this)
    return total
""",
    "02_gradient_checking": """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype.type is not np.float64:
        raise ValueError("x is not float64")
    slopes = []
    for index in list(np.ndindex(*x.shape)):
        number = x[index].copy()
        x[index] = number - step
        below = loss()
        x[index] = number + step
        above = loss()
        x[index] = number
        slopes.append((above - below) / step / 2)
    return np.array(slopes, float).reshape(x.shape)

def gradient_error(by_hand, numerical):
    size = lambda array: np.sqrt(np.sum(np.square(array)))
    error = size(by_hand - numerical) / np.maximum(size(by_hand) + size(numerical), 1e-3)
    return float("inf") if np.isnan(error) else float(error)

def wrong_backwards(suspects, rng):
    found = []
    for name in suspects:
        forward, backward, inputs = suspects[name]
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = list(backward(dy, cache))
        right = len(gradients) == len(inputs) and all(g.shape == x.shape for g, x in zip(gradients, inputs))
        if right:
            slope = lambda: np.vdot(dy, forward(*inputs)[0])
            errors = [gradient_error(g, numerical_gradient(slope, x)) for g, x in zip(gradients, inputs)]
            right = max(errors) < 1e-6
        if not right:
            found += [name]
    return found

def check_in_two(forward, backward, inputs, rng):
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    pushes = [1e-5 * rng.standard_normal(x.shape) for x in inputs]
    slope = sum(np.vdot(g, p) for g, p in zip(backward(dy, cache), pushes)) / 1e-5
    above = forward(*(x + p for x, p in zip(inputs, pushes)))[0]
    below = forward(*(x - p for x, p in zip(inputs, pushes)))[0]
    return gradient_error(np.array(slope), np.array(((above - below) * dy).sum() / 2e-5))
""",
    "03_linear": """
def linear(x, weight, bias):
    y = np.tensordot(x, weight, axes=1)
    y += bias
    return y, {"x": x, "weight": weight}

def linear_backward(dy, cache):
    x, weight = cache["x"], cache["weight"]
    rows = tuple(range(dy.ndim - 1))
    dx, dweight = np.einsum("...o,io->...i", dy, weight), np.tensordot(x, dy, (rows, rows))
    return dx, dweight, np.add.reduce(dy, axis=rows)

def unbroadcast(dy, shape):
    shape = tuple(shape)
    while dy.ndim > len(shape):
        dy = dy.sum(axis=0)
    for axis, length in enumerate(shape):
        if length == 1 and dy.shape[axis] != 1:
            dy = dy.sum(axis=axis, keepdims=True)
    return np.array(dy)

def tied_backward(dy, x, weight):
    dcode, of_decoder, _ = linear_backward(dy, {"x": x @ weight, "weight": weight.T.copy()})
    dx, of_encoder, _ = linear_backward(dcode, {"x": x, "weight": weight})
    return dx, of_encoder + of_decoder.T
""",
    "04_gelu_mlp": """
def gelu(x, form="tanh"):
    if form == "tanh":
        share = np.tanh(0.7978845608028654 * x * (1 + 0.044715 * np.square(x))) / 2 + 0.5
    else:
        share = (erf(x / 2**0.5) + 1) / 2
    return x * share, [x, share, form]

def gelu_backward(dy, cache):
    x, share, form = cache
    if form == "tanh":
        slope = 2 * share * (1 - share) * 0.7978845608028654 * (1 + 0.134145 * np.square(x))
    else:
        slope = np.exp(-0.5 * np.square(x)) * 0.3989422804014327
    return dy * share + dy * (x * slope)

def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    h = x @ weight1 + bias1
    g, cache = gelu(h, gelu_form)
    return g @ weight2 + bias2, (x, g, cache, weight1, weight2)

def mlp_backward(dy, cache):
    x, g, of_gelu, weight1, weight2 = cache
    dh = gelu_backward(dy @ weight2.T, of_gelu)
    grads = []
    for inside, outside in ((x, dh), (g, dy)):
        inside, outside = (array.reshape(-1, array.shape[-1]) for array in (inside, outside))
        grads += [sum(np.outer(one, two) for one, two in zip(inside, outside)), sum(outside)]
    return (dh @ weight1.T, *grads)

def swiglu_backward(dy, x, weight_a, weight_b, weight_out):
    a, b = x @ weight_a, x @ weight_b
    gate = 1 / (1 + np.exp(-a))
    silu, dhidden = a * gate, dy @ weight_out.T
    rows = lambda array: array.reshape(-1, array.shape[-1])
    outer = lambda one, two: np.einsum("ri,ro->io", rows(one), rows(two))
    da, db = dhidden * b * (gate + silu - gate * silu), dhidden * silu
    return da @ weight_a.T + db @ weight_b.T, outer(x, da), outer(x, db), outer(silu * b, dy)
""",
    "05_patches": """
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch != 0 or W % patch != 0:
        raise ValueError(f"{patch} divides {H} or {W} not")
    cut = [
        images[:, r : r + patch, c : c + patch].reshape(B, -1)
        for r in range(0, H, patch)
        for c in range(0, W, patch)
    ]
    return np.stack(cut, axis=1), {"shape": images.shape, "patch": patch}

def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    images, number = np.zeros(shape, patches.dtype), 0
    for r in range(0, H, patch):
        for c in range(0, W, patch):
            images[:, r : r + patch, c : c + patch] = patches[:, number].reshape(B, patch, patch, C)
            number += 1
    return images

def patchify_backward(dy, cache):
    return unpatchify(dy, cache["shape"], cache["patch"])

def class_token(x, token):
    return np.concatenate([np.tile(token, (len(x), 1, 1)), x], axis=1), len(x)

def class_token_backward(dy, cache):
    dx = np.delete(dy, 0, axis=1)
    return dx, np.einsum("bd->d", dy[:, 0])

def position_embedding_backward(dy, cache):
    return np.array(dy), np.einsum("bnd->nd", dy)

def overlapping_patches_backward(dy, shape, patch, stride):
    B, H, W, C = shape
    dx, columns = np.zeros(shape, dy.dtype), (W - patch) // stride + 1
    for number in range(dy.shape[1]):
        r, c = number // columns * stride, number % columns * stride
        dx[:, r : r + patch, c : c + patch] += dy[:, number].reshape(B, patch, patch, C)
    return dx

def grid_positions_backward(dy, rows, columns):
    drows = np.zeros((rows, dy.shape[-1]), dy.dtype)
    dcolumns = np.zeros((columns, dy.shape[-1]), dy.dtype)
    for number in range(rows * columns):
        here = dy[:, 1 + number].sum(axis=0)
        drows[number // columns] += here
        dcolumns[number % columns] += here
    return dy.copy(), drows, dcolumns
""",
    "06_attention": """
def single_head(q, k, v):
    scores = np.einsum("bik,bjk->bij", q, k) * q.shape[-1] ** -0.5
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    return np.einsum("bij,bjk->bik", A, v), {"A": A, "q": q, "k": k, "v": v}

def single_head_backward(dy, cache):
    A, scale = cache["A"], cache["q"].shape[-1] ** -0.5
    dA = np.einsum("bik,bjk->bij", dy, cache["v"])
    dS = (dA - np.einsum("bij,bij->bi", dA, A)[..., None]) * A * scale
    dq, dk = np.einsum("bij,bjk->bik", dS, cache["k"]), np.einsum("bij,bik->bjk", dS, cache["q"])
    return dq, dk, np.einsum("bij,bik->bjk", A, dy)

def split_heads(qkv, heads):
    thirds = np.split(qkv, 3, axis=-1)
    return tuple(np.stack(np.split(third, heads, axis=-1), axis=1) for third in thirds)

def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    q, k, v = split_heads(x @ qkv_weight + qkv_bias, heads)
    mixes, caches = [], []
    for h in range(heads):
        mix, cache = single_head(q[:, h], k[:, h], v[:, h])
        mixes.append(mix)
        caches.append(cache)
    joined = np.concatenate(mixes, axis=-1)
    return joined @ out_weight + out_bias, (x, qkv_weight, out_weight, joined, caches)

def attention_backward(dy, cache):
    x, qkv_weight, out_weight, joined, caches = cache
    pieces = np.split(dy @ out_weight.T, len(caches), axis=-1)
    heads = [single_head_backward(piece, each) for piece, each in zip(pieces, caches)]
    dqkv = np.concatenate([each[part] for part in range(3) for each in heads], axis=-1)
    outer = lambda one, two: np.einsum("bni,bno->io", one, two)
    down = lambda array: array.sum(axis=(0, 1))
    return dqkv @ qkv_weight.T, outer(x, dqkv), down(dqkv), outer(joined, dy), down(dy)

def lean_backward(dy, q, k, v, piece):
    N, scale = q.shape[1], 1 / math.sqrt(q.shape[2])
    parts, dk, dv = [], 0 * k, 0 * v
    for start in range(0, N, piece):
        stop = min(N, start + piece)
        q_, dy_ = q[:, start:stop] * scale, dy[:, start:stop]
        A, _ = softmax(q_ @ k.transpose(0, 2, 1))
        dS = softmax_backward(dy_ @ v.transpose(0, 2, 1), A)
        parts.append(dS @ k * scale)
        dk = dk + dS.transpose(0, 2, 1) @ q_
        dv = dv + A.transpose(0, 2, 1) @ dy_
    return np.concatenate(parts, axis=1), dk, dv

def grouped_heads_backward(dy, q, k, v):
    heads_of_one = q.shape[1] // k.shape[1]
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for h in range(q.shape[1]):
        g = h // heads_of_one
        _, cache = single_head(q[:, h], k[:, g], v[:, g])
        dq[:, h], of_k, of_v = single_head_backward(dy[:, h], cache)
        dk[:, g] += of_k
        dv[:, g] += of_v
    return dq, dk, dv
""",
    "07_layer_norm": """
def layer_norm(x, weight, bias, eps=1e-6):
    mean, var = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
    return weight * (x - mean) / std + bias, (x, mean, std, weight)

def layer_norm_backward(dy, cache):
    x, mean, std, weight = cache
    D, n, g = x.shape[-1], (x - mean) / std, dy * weight
    total = g.sum(axis=-1, keepdims=True) + n * (g * n).sum(axis=-1, keepdims=True)
    rows = dy.reshape(-1, D)
    return (D * g - total) / (D * std), (rows * n.reshape(-1, D)).sum(axis=0), rows.sum(axis=0)

def rms_norm_backward(dy, x, weight, first, eps=1e-6):
    r = ((x[..., :first] ** 2).mean(axis=-1, keepdims=True) + eps) ** -0.5
    back = -(r**3) * (dy * weight * x).sum(axis=-1, keepdims=True) / first
    counts = (np.arange(x.shape[-1]) < first).astype(x.dtype)
    return dy * weight * r + back * x * counts, (dy * x * r).reshape(-1, len(weight)).sum(axis=0)
""",
    "08_vit": """
def _two(params, *names):
    return [params[f"{name}.{kind}"] for name in names for kind in ("weight", "bias")]

def block(x, params, heads):
    steps = {}
    n, steps["norm1"] = ops.layer_norm(x, *_two(params, "norm1"))
    branch, steps["attention"] = ops.attention(n, *_two(params, "attn.qkv", "attn.out"), heads)
    middle = branch + x
    n, steps["norm2"] = ops.layer_norm(middle, *_two(params, "norm2"))
    branch, steps["mlp"] = ops.mlp(n, *_two(params, "mlp.fc1", "mlp.fc2"))
    return branch + middle, steps

def block_backward(dy, cache):
    grads, order = {}, ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")
    dn, *found = ops.mlp_backward(dy, cache["mlp"])
    grads.update(zip(order, found))
    dn, grads["norm2.weight"], grads["norm2.bias"] = ops.layer_norm_backward(dn, cache["norm2"])
    dmiddle, order = dn + dy, ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
    dn, *found = ops.attention_backward(dmiddle, cache["attention"])
    grads.update(zip(order, found))
    dn, grads["norm1.weight"], grads["norm1.bias"] = ops.layer_norm_backward(dn, cache["norm1"])
    return dn + dmiddle, grads

def forward(config, params, images):
    patches, _ = ops.patchify(images, config.patch_size)
    x = patches @ params["patch.weight"] + params["patch.bias"]
    token = np.broadcast_to(params["class_token"], (len(x), 1, x.shape[-1]))
    x = np.concatenate([token, x], axis=1) + params["position"]
    caches = []
    for i in range(config.layers):
        start = f"blocks.{i}."
        own = {name[len(start) :]: array for name, array in params.items() if name.startswith(start)}
        x, cache = block(x, own, config.heads)
        caches.append(cache)
    x, norm = ops.layer_norm(x[:, 0], params["norm.weight"], params["norm.bias"])
    logits = x @ params["head.weight"] + params["head.bias"]
    return logits, {"patches": patches, "caches": caches, "norm": norm, "x": x, "params": params}

def backward(dlogits, cache):
    grads, params = {}, cache["params"]
    grads["head.weight"], grads["head.bias"] = cache["x"].T @ dlogits, dlogits.sum(axis=0)
    dx = dlogits @ params["head.weight"].T
    first, grads["norm.weight"], grads["norm.bias"] = ops.layer_norm_backward(dx, cache["norm"])
    dx = np.zeros((len(first), *params["position"].shape), dlogits.dtype)
    dx[:, 0] = first
    for i, each in reversed(list(enumerate(cache["caches"]))):
        dx, found = block_backward(dx, each)
        for name in found:
            grads[f"blocks.{i}." + name] = found[name]
    grads["position"], grads["class_token"] = dx.sum(axis=0), dx[:, 0].sum(axis=0)
    grads["patch.weight"] = np.einsum("bti,btd->id", cache["patches"], dx[:, 1:])
    grads["patch.bias"] = dx[:, 1:].sum(axis=(0, 1))
    return grads

def post_norm_block(x, params, heads):
    a, of_attention = ops.attention(x, *_two(params, "attn.qkv", "attn.out"), heads)
    middle, norm1 = ops.layer_norm(x + a, *_two(params, "norm1"))
    m, of_mlp = ops.mlp(middle, *_two(params, "mlp.fc1", "mlp.fc2"))
    y, norm2 = ops.layer_norm(middle + m, *_two(params, "norm2"))

    def backward(dy):
        grads = {}
        d, grads["norm2.weight"], grads["norm2.bias"] = ops.layer_norm_backward(dy, norm2)
        branch, *found = ops.mlp_backward(d, of_mlp)
        grads |= dict(zip(BLOCK[8:], found))
        d, grads["norm1.weight"], grads["norm1.bias"] = ops.layer_norm_backward(d + branch, norm1)
        branch, *found = ops.attention_backward(d, of_attention)
        return d + branch, grads | dict(zip(BLOCK[2:6], found))

    return y, backward

def pixel_gradient(config, params, images, dlogits):
    _, cache = forward(config, params, images)
    first = ops.layer_norm_backward(dlogits @ params["head.weight"].T, cache["norm"])[0]
    dx = np.zeros((len(first), *params["position"].shape), first.dtype)
    dx[:, :1] = first[:, None]
    for each in cache["caches"][::-1]:
        dx = block_backward(dx, each)[0]
    return ops.unpatchify(dx[:, 1:] @ params["patch.weight"].T, images.shape, config.patch_size)
""",
    "09_optimisers": """
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    m = m + (1 - betas[0]) * (g - m)
    v = v + (1 - betas[1]) * (np.square(g) - v)
    root = np.sqrt(v / (1 - betas[1] ** step)) + eps
    return w * (1 - lr * weight_decay) - (lr / (1 - betas[0] ** step)) * m / root, m, v

def clip_norm(g, largest):
    norm = float(np.linalg.norm(g))
    factor = min(1.0, largest / norm) if norm else 1.0
    return factor * g, norm

def learning_rate(step, total, peak, warmup, decay="cosine"):
    if warmup and step <= warmup:
        return step / warmup * peak
    left = (total - step + 1) / (total - warmup)
    return peak * left if decay == "linear" else peak * math.sin(math.pi / 2 * left) ** 2

def largest_rate(steepness, momentum):
    low, high = 0.0, 100 / steepness
    for _ in range(60):
        rate = (low + high) / 2
        roots = np.roots([1, rate * steepness - 1 - momentum, momentum])
        low, high = (rate, high) if abs(roots).max() <= 1 + 1e-12 else (low, rate)
    return low
""",
    "12_data": """
def crop_and_flip(images, indices, down, right, flip):
    n, H, W, C = images.shape
    result = np.zeros((len(indices), H, W, C), np.uint8)
    for place, (i, d, r, f) in enumerate(zip(indices, down, right, flip)):
        wide = np.pad(images[i], ((H - 1, H - 1), (W - 1, W - 1), (0, 0)), mode="reflect")
        seen = wide[H - 1 + d : 2 * H - 1 + d, W - 1 + r : 2 * W - 1 + r]
        result[place] = seen[:, ::-1] if f else seen
    return result

def drop_path(x, rate, noise):
    if noise is None or not rate:
        return x, None
    kept = noise.uniform((len(x), 1, 1), np) >= rate
    return np.where(kept, x / (1 - rate), 0).astype(x.dtype), (kept, rate)

def drop_path_backward(dy, cache):
    return dy if cache is None else np.where(cache[0], dy / (1 - cache[1]), 0).astype(dy.dtype)
""",
    "13_train_cifar10": """
def evaluate(model, images, labels, batch_size):
    losses, right = [], []
    for rows in np.split(np.arange(len(labels)), range(batch_size, len(labels), batch_size)):
        logits = model.logits((images[rows].astype(np.float32) - 127.5) / 127.5)
        losses += [float(cross_entropy(row[None], labels[i : i + 1])[0]) for row, i in zip(logits, rows)]
        right += (logits.argmax(axis=1) == labels[rows]).tolist()
    return sum(losses) / len(losses), float(np.mean(right))

def fit(model, data, epochs, batch_size, peak, warmup_epochs, weight_decay, seed, report):
    from tinyvit.optim import AdamW  # it knows which parameters are matrices
    rng, optimizer, step, records = np.random.default_rng([seed, 1]), AdamW(model.params), 0, []
    optimizer.weight_decay, highest, best = weight_decay, -1.0, None
    n = len(data.train.labels)
    total = epochs * -(-n // batch_size)
    for epoch in range(epochs):
        pictures = parts.augment(data.train.images, rng)  # all of them, once an epoch
        left, losses = list(rng.permutation(n)), []
        while left:
            rows, left = left[:batch_size], left[batch_size:]
            step += 1
            grads = model.params.zeros_like()
            batch = normalise(pictures[rows], np.float64)
            loss = model.loss_and_grads(batch, data.train.labels[rows], grads, Noise(seed + 7, step))
            grads.flat[:] = parts.clip_norm(grads.flat, 1.0)[0]
            lr = parts.learning_rate(step, total, peak, warmup_epochs * total // epochs)
            optimizer.step(grads, lr, step)
            losses += [loss] * len(rows)
        val_loss, val_accuracy = evaluate(model, data.validation.images, data.validation.labels, 3)
        if val_accuracy > highest:
            highest, best = val_accuracy, copy_of(model.params)
        record = dict(epoch=epoch + 1, train_loss=float(np.mean(losses)))
        record |= dict(val_loss=val_loss, val_accuracy=val_accuracy)
        report(record)
        records.append(record)
    return best, records

def copy_of(params):
    copy = params.zeros_like()
    copy.flat += params.flat
    return copy
""",
    "14_look_inside": """
def attention_rollout(attention):
    half = (attention.mean(axis=2) + np.eye(attention.shape[-1], dtype=attention.dtype)) * 0.5
    result = half[:, -1]
    for layer in reversed(range(half.shape[1] - 1)):
        result = np.einsum("nij,njk->nik", result, half[:, layer])
    return result
""",
    "15_recipes": """
def average_step(average, weights, decay, step):
    long = decay < (1 + step) / (10 + step)
    now = decay if long else (1 + step) / (10 + step)
    return average + (1 - now) * (weights - average)

def mixed_cross_entropy(logits, labels, shares):
    following = np.concatenate([labels[1:], labels[:1]])
    targets = np.zeros(logits.shape, logits.dtype)
    for i, (one, two, share) in enumerate(zip(labels, following, shares)):
        targets[i, one] += 1 - share
        targets[i, two] += share
    loss, cache = cross_entropy(logits, targets)
    return [loss, cross_entropy_backward(cache)]
""",
    "18_transfer": """
def ridge_weights(X, Y, ridge):
    U, s, V = np.linalg.svd(X, full_matrices=False)
    return V.T @ ((s / (s * s + X.dtype.type(ridge)))[:, None] * (U.T @ Y))

def probe_inputs(features, mean, std):
    inputs = np.full((features.shape[0], features.shape[1] + 1), 100.0)
    inputs[:, :-1] = (features.astype(float) - mean) / (1e-5 + std)
    return inputs

def leave_one_out(X, Y, ridge):
    K = X @ X.T
    inverse = np.linalg.inv(K + ridge * np.identity(len(X), X.dtype))
    scores, own = K @ inverse @ Y, np.diag(K @ inverse)[:, None]
    return (scores - own * Y) / (1 - own)
""",
    "22_rotary": """
def place_angles(grid, K, theta=100.0):
    rows, columns = grid
    table = np.zeros((rows * columns, K // 2))
    for n in range(K // 4):
        speed = theta ** (-n / (K / 4))
        table[:, n] = np.repeat(np.arange(rows), columns) * speed
        table[:, K // 4 + n] = np.tile(np.arange(columns), rows) * speed
    return table

def turn_patches(x, angles):
    T, half = angles.shape[-2], x.shape[-1] // 2
    turned = (x[:, :, -T:, :half] + 1j * x[:, :, -T:, half:]) * np.exp(1j * angles)
    y = np.array(x)
    y[:, :, -T:, :half], y[:, :, -T:, half:] = turned.real, turned.imag
    return y, angles

def turn_patches_backward(dy, cache):
    return turn_patches(dy, -cache)[0]

def learned_scores(q, k, frequencies, grid):
    r, c = np.indices(grid).reshape(2, 1, -1, 1).astype(q.dtype)
    angles = r * frequencies[0][:, None] + c * frequencies[1][:, None]
    y, z = turn_patches(q, angles)[0], turn_patches(k, angles)[0]
    return np.einsum("bhik,bhjk->bhij", y, z), (y, z, angles, r, c)

def learned_scores_backward(dS, cache):
    y, z, angles, r, c = cache
    dy, dz = np.einsum("bhij,bhjk->bhik", dS, z), np.einsum("bhij,bhik->bhjk", dS, y)
    half, dangles = y.shape[-1] // 2, 0
    for turned, back in ((y, dy), (z, dz)):
        first, second = turned[..., :half], turned[..., half:]
        dangles = dangles + (back[..., half:] * first - back[..., :half] * second).sum(axis=0)
    dfrequencies = np.stack([(r * dangles).sum(axis=1), (c * dangles).sum(axis=1)])
    return turn_patches(dy, -angles)[0], turn_patches(dz, -angles)[0], dfrequencies
""",
    "23_masked_patches": """
def take_seen_backward(dy, cache):
    seen, shape = cache
    dx = np.zeros(shape, dy.dtype)
    for b, places in enumerate(seen):
        for i, place in enumerate(places):
            dx[b, place] = dy[b, i]
    return dx

def put_back(y, mask_token, positions, seen):
    z = np.tile(mask_token, (len(y), len(positions), 1))
    for b in range(len(y)):
        z[b, seen[b]] = y[b]
    return z + positions, (seen, len(positions))

def put_back_backward(dz, cache):
    seen, T = cache
    hidden = [np.setdiff1d(np.arange(T), places) for places in seen]
    dmask = sum(dz[b, places].sum(axis=0) for b, places in enumerate(hidden))
    dy = np.stack([dz[b, places] for b, places in enumerate(seen)])
    return dy, np.zeros_like(dz[0, 0]) + dmask, dz.sum(axis=0)
""",
    "24_pictures_and_words": """
def direction_backward(dy, cache):
    y, length = cache
    along = np.einsum("be,be->b", dy, y)[:, None] * y
    return dy / length - along / length

def sigmoid_pairs(images, texts, log_scale, bias, same):
    scale = np.exp(log_scale)
    S = scale * np.einsum("ie,je->ij", images, texts) + bias
    sign = np.where(same, 1, -1).astype(S.dtype)
    loss = np.mean(np.sum(np.logaddexp(0, -sign * S), axis=1))
    dS = -sign * (0.5 - 0.5 * np.tanh(sign * S / 2)) / len(images)
    return loss, (scale * dS @ texts, scale * dS.T @ images, np.sum(dS * (S - bias)), dS.sum())
""",
    "25_memory": """
def row_means(x):
    return np.tensordot(x, np.full((x.shape[-1], 1), 1 / x.shape[-1], x.dtype), axes=1)
""",
}
