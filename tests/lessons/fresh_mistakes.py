"""Wrong answers such as beginners write, to see whether the first sentence that they hear names the fault.

Each text replaces the functions of the lesson's solution that have its names. The words, one of which is to be
in the sentence, were written down before it was known what the referee says.
"""

WRONG: list[tuple[str, str, str]] = []  # lesson, words that name the fault, functions


def wrong(lesson, words, code):
    WRONG.append((lesson, words, code))


# 00_pixels
wrong(
    "00_pixels",
    "before|byte|wrap|127",
    """
def normalise(images, dtype):
    return ((images - 127) / 127.5).astype(dtype)
""",
)
wrong(
    "00_pixels",
    "from 0|0 to 1",
    """
def normalise(images, dtype):
    return images.astype(dtype) / 255
""",
)
wrong(
    "00_pixels",
    "bias",
    """
def class_scores(images, weight, bias):
    return images.reshape(len(images), -1) @ weight
""",
)
wrong(
    "00_pixels",
    "all images",
    """
def mean_templates(x, labels, classes):
    means = np.stack([x[labels == c].sum(axis=0) / len(x) for c in range(classes)])
    return means.T, -(means * means).sum(axis=1) / 2
""",
)
wrong(
    "00_pixels",
    "half|2 times|twice|/ 2|divided by 2",
    """
def mean_templates(x, labels, classes):
    means = np.stack([x[labels == c].mean(axis=0) for c in range(classes)])
    return means.T, -(means * means).sum(axis=1)
""",
)
wrong(
    "00_pixels",
    "bias",
    """
def read_templates(scores, shape):
    D = int(np.prod(shape))
    bias = scores(np.zeros((1, *shape)))[0]
    weight = np.stack([scores(np.eye(D)[d].reshape(1, *shape))[0] for d in range(D)])
    return weight, bias
""",
)
wrong(
    "00_pixels",
    "scaled|max|largest|look",
    """
def normalise(images, dtype):
    x = images.astype(dtype)
    return (2 * x / x.max() - 1).astype(dtype)
""",
)
wrong(
    "00_pixels",
    "class in each row|transpos",
    """
def mean_templates(x, labels, classes):
    means = np.stack([x[labels == c].mean(axis=0) for c in range(classes)])
    return means, -(means * means).sum(axis=1) / 2
""",
)

# 01_softmax_cross_entropy
wrong(
    "01_softmax_cross_entropy",
    "elementwise|diagonal",
    """
def softmax_backward(dy, cache):
    return dy * cache * (1 - cache)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "y.*(sum|left out|missing)|sum.*y|weight",
    """
def softmax_backward(dy, cache):
    return cache * (dy - dy.sum(axis=-1, keepdims=True))
""",
)
wrong(
    "01_softmax_cross_entropy",
    "mean|sum",
    """
def softmax_backward(dy, cache):
    return cache * (dy - (dy * cache).mean(axis=-1, keepdims=True))
""",
)
wrong(
    "01_softmax_cross_entropy",
    "factor|times y|by y|without y|y is|cache|y",
    """
def softmax_backward(dy, cache):
    return dy - (dy * cache).sum(axis=-1, keepdims=True)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "axis|keepdims",
    """
def softmax_backward(dy, cache):
    return cache * (dy - (dy * cache).sum(axis=-1))
""",
)
wrong(
    "01_softmax_cross_entropy",
    "sum",
    """
def cross_entropy(logits, targets, smoothing=0.0):
    B, C = logits.shape
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    t = (1 - smoothing) * t + smoothing / C
    z = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(z).sum(axis=1, keepdims=True)
    loss = -(t * (z - np.log(total))).sum()
    return loss, (np.exp(z) / total, t)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "C - 1",
    """
def cross_entropy(logits, targets, smoothing=0.0):
    B, C = logits.shape
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    t = (1 - smoothing) * t + smoothing / (C - 1) * (1 - t)
    z = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(z).sum(axis=1, keepdims=True)
    loss = -(t * (z - np.log(total))).sum(axis=1).mean()
    return loss, (np.exp(z) / total, t)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "overflow|not finite|maximum|large",
    """
def cross_entropy(logits, targets, smoothing=0.0):
    B, C = logits.shape
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    t = (1 - smoothing) * t + smoothing / C
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    loss = -(t * np.log(p)).sum(axis=1).mean()
    return loss, (p, t)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "before smoothing|smooth",
    """
def cross_entropy(logits, targets, smoothing=0.0):
    B, C = logits.shape
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    z = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(z).sum(axis=1, keepdims=True)
    s = (1 - smoothing) * t + smoothing / C
    loss = -(s * (z - np.log(total))).sum(axis=1).mean()
    return loss, (np.exp(z) / total, t)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "sum over the batch|divided by B",
    """
def cross_entropy_backward(cache):
    p, t = cache
    return p - t
""",
)
wrong(
    "01_softmax_cross_entropy",
    "sign|exchanged|wrong way",
    """
def cross_entropy_backward(cache):
    p, t = cache
    return (t - p) / len(p)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "numbers of p|C\\b",
    """
def cross_entropy_backward(cache):
    p, t = cache
    return (p - t) / p.size
""",
)
wrong(
    "01_softmax_cross_entropy",
    "maximum|earlier|before|sum|rescal|factor|total",
    """
def log_sum_exp_in_pieces(pieces):
    highest, total = -np.inf, 0.0
    for piece in pieces:
        new = np.maximum(highest, piece.max(axis=1))
        total = total + np.exp(piece - new[:, None]).sum(axis=1)
        highest = new
    return highest + np.log(total)
""",
)
wrong(
    "01_softmax_cross_entropy",
    "axis",
    """
def softmax_backward(dy, cache):
    return cache * (dy - (dy * cache).sum(axis=0, keepdims=True))
""",
)
CE = """
def cross_entropy(logits, targets, smoothing=0.0):
    B, C = logits.shape
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    t = (1 - smoothing) * t + smoothing / C
    z = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(z).sum(axis=1, keepdims=True)
    loss = -(t * (z - np.log(total))).sum(axis=1).mean()
    return loss, (np.exp(z) / total, t)
"""
wrong(
    "01_softmax_cross_entropy",
    "1 - smoothing|on top|add up",
    CE.replace("(1 - smoothing) * t + smoothing / C", "t + smoothing / C"),
)
wrong("01_softmax_cross_entropy", "sign|wrong way", CE.replace("loss = -(", "loss = ("))
wrong("01_softmax_cross_entropy", "log", CE.replace("np.log(total)", "total"))
wrong(
    "01_softmax_cross_entropy",
    "softmax|total|divided|exp|z|p",
    CE.replace("return loss, (np.exp(z) / total, t)", "return loss, (np.exp(z), t)"),
)
wrong(
    "01_softmax_cross_entropy",
    "axis|maximum|column|row|batch",
    CE.replace("logits.max(axis=1, keepdims=True)", "logits.max(axis=0, keepdims=True)"),
)
wrong("01_softmax_cross_entropy", "3 times|classes", CE.replace(".sum(axis=1).mean()", ".mean()"))
wrong(
    "01_softmax_cross_entropy",
    "highest|maximum|added|term",
    """
def log_sum_exp_in_pieces(pieces):
    highest, total = -np.inf, 0.0
    for piece in pieces:
        new = np.maximum(highest, piece.max(axis=1))
        total = total * np.exp(highest - new) + np.exp(piece - new[:, None]).sum(axis=1)
        highest = new
    return np.log(total)
""",
)

# 02_gradient_checking
wrong(
    "02_gradient_checking",
    "2|half|twice",
    """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("float64, please")
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        kept = x[index]
        x[index] = kept + step
        above = loss()
        x[index] = kept - step
        below = loss()
        x[index] = kept
        gradient[index] = (above - below) / step
    return gradient
""",
)
wrong(
    "02_gradient_checking",
    "x to kept|back|restor",
    """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("float64, please")
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        above = loss()
        x[index] -= 2 * step
        below = loss()
        gradient[index] = (above - below) / (2 * step)
    return gradient
""",
)
wrong(
    "02_gradient_checking",
    "not one bit|exactly|back|restor",
    """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("float64, please")
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        above = loss()
        x[index] -= 2 * step
        below = loss()
        x[index] += step
        gradient[index] = (above - below) / (2 * step)
    return gradient
""",
)
wrong(
    "02_gradient_checking",
    "one side|twice|central|forward|below|both|down|called",
    """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("float64, please")
    gradient, base = np.zeros_like(x), loss()
    for index in np.ndindex(x.shape):
        kept = x[index]
        x[index] = kept + step
        gradient[index] = (loss() - base) / step
        x[index] = kept
    return gradient
""",
)
wrong(
    "02_gradient_checking",
    "at once|one number",
    """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("float64, please")
    kept = x.copy()
    x += step
    above = loss()
    x[...] = kept - step
    below = loss()
    x[...] = kept
    return np.full_like(x, (above - below) / (2 * step))
""",
)
wrong(
    "02_gradient_checking",
    "max|entry|tiny|each|whole|norm|sum",
    """
def gradient_error(by_hand, numerical):
    if np.size(by_hand) == 0:
        return 0.0
    error = np.abs(by_hand - numerical) / np.maximum(np.abs(by_hand) + np.abs(numerical), 1e-3)
    return float(error.max())
""",
)
wrong(
    "02_gradient_checking",
    "ones|random|zeros|drawn",
    """
def wrong_backwards(suspects, rng):
    names = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = np.ones(y.shape)
        gradients = backward(dy, cache)
        wrong = len(gradients) != len(inputs)
        for x, g in zip(inputs, gradients):
            numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
            if g.shape != x.shape or not gradient_error(g, numerical) < 1e-6:
                wrong = True
        if wrong:
            names.append(name)
    return names
""",
)
wrong(
    "02_gradient_checking",
    "first|every|input|gradient 1|found",
    """
def wrong_backwards(suspects, rng):
    names = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        x, g = inputs[0], gradients[0]
        numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
        if len(gradients) != len(inputs) or g.shape != x.shape or not gradient_error(g, numerical) < 1e-6:
            names.append(name)
    return names
""",
)
wrong(
    "02_gradient_checking",
    "nan",
    """
def wrong_backwards(suspects, rng):
    names = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        wrong = len(gradients) != len(inputs)
        for x, g in zip(inputs, gradients):
            numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
            if g.shape != x.shape:
                wrong = True
            elif np.linalg.norm(g - numerical) > 1e-6 * max(np.linalg.norm(g) + np.linalg.norm(numerical), 1e-3):
                wrong = True
        if wrong:
            names.append(name)
    return names
""",
)
wrong(
    "02_gradient_checking",
    "push|same|equal shape|cancel",
    """
def check_in_two(forward, backward, inputs, rng):
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    gradients = backward(dy, cache)
    pushes = {}
    for x in inputs:
        if x.shape not in pushes:
            pushes[x.shape] = rng.standard_normal(x.shape)
    by_hand = sum((pushes[x.shape] * g).sum() for x, g in zip(inputs, gradients))
    up = forward(*[x + 1e-5 * pushes[x.shape] for x in inputs])[0]
    down = forward(*[x - 1e-5 * pushes[x.shape] for x in inputs])[0]
    return gradient_error(np.asarray(by_hand), np.asarray(((up - down) * dy).sum() / 2e-5))
""",
)
NUM = """
def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("float64")
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        old = x[index]
        x[index] = old + step
        up = loss()
        x[index] = old - step
        down = loss()
        x[index] = old
        gradient[index] = (up - down) / (2 * step)
    return gradient
"""
wrong(
    "02_gradient_checking",
    "step",
    NUM.replace("old + step", "old + 1e-5").replace("old - step", "old - 1e-5").replace("2 * step", "2e-5"),
)
wrong(
    "02_gradient_checking",
    "sign|wrong way|up and down|difference|exchanged",
    NUM.replace("(up - down)", "(down - up)"),
)
wrong(
    "02_gradient_checking",
    "Any dtype|accepted",
    NUM.replace('    if x.dtype != np.float64:\n        raise ValueError("float64")\n', ""),
)
wrong(
    "02_gradient_checking",
    "copy",
    NUM.replace("    gradient = np.zeros_like(x)\n", "    gradient = np.zeros_like(x)\n    x = x.copy()\n"),
)
wrong(
    "02_gradient_checking",
    "not finite|by zero",
    """
def gradient_error(by_hand, numerical):
    error = float(np.linalg.norm(by_hand - numerical) / (np.linalg.norm(by_hand) + np.linalg.norm(numerical)))
    return error
""",
)
wrong(
    "02_gradient_checking",
    "another dy|drawn|again",
    """
def wrong_backwards(suspects, rng):
    names = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        gradients = backward(rng.standard_normal(y.shape), cache)
        dy = rng.standard_normal(y.shape)
        wrong = len(gradients) != len(inputs)
        for x, g in zip(inputs, gradients):
            numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
            if g.shape != x.shape or not gradient_error(g, numerical) < 1e-6:
                wrong = True
        if wrong:
            names.append(name)
    return names
""",
)

# 03_linear
wrong(
    "03_linear",
    "bias",
    """
def linear(x, weight, bias):
    return x @ weight, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, x.reshape(-1, x.shape[-1]).T @ rows, rows.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "transpose",
    """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    dx = dy @ weight if weight.shape[0] == weight.shape[1] else dy @ weight.reshape(weight.shape[::-1])
    return dx, x.reshape(-1, x.shape[-1]).T @ rows, rows.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "mean",
    """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, x.reshape(-1, x.shape[-1]).T @ rows, rows.mean(axis=0)
""",
)
wrong(
    "03_linear",
    "axis|first axis|leading|summed|shape",
    """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, x.reshape(-1, x.shape[-1]).T @ rows, dy.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "transpose",
    """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, rows.T @ x.reshape(-1, x.shape[-1]), rows.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "mean|number of rows|divided",
    """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, x.reshape(-1, x.shape[-1]).T @ rows / len(rows), rows.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "exchanged|order|number 2|dweight",
    """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    dweight = x.reshape(-1, x.shape[-1]).T @ rows
    return dweight, dy @ weight.T, rows.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "float64|dtype",
    """
def linear(x, weight, bias):
    y = np.zeros((*x.shape[:-1], weight.shape[1]))
    y += x @ weight
    return y + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, x.reshape(-1, x.shape[-1]).T @ rows, rows.sum(axis=0)
""",
)
wrong(
    "03_linear",
    "term made of code|decoder",
    """
def tied_backward(dy, x, weight):
    dcode = dy @ weight
    rows = x.reshape(-1, x.shape[-1])
    return dcode @ weight.T, rows.T @ dcode.reshape(-1, dcode.shape[-1])
""",
)
wrong(
    "03_linear",
    "missing|leading|1 stays|kept|length 1|sum",
    """
def unbroadcast(dy, shape):
    while dy.ndim > len(shape):
        dy = dy.sum(axis=0)
    return dy
""",
)
LIN = """
def linear(x, weight, bias):
    return x @ weight + bias, (x, weight)

def linear_backward(dy, cache):
    x, weight = cache
    x2, dy2 = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    return dy @ weight.T, x2.T @ dy2, dy2.sum(axis=0)
"""
wrong("03_linear", "matmul|transpose", LIN.replace("dy @ weight.T", "dy @ weight"))
wrong("03_linear", "plus bias|twice", LIN.replace("x @ weight + bias,", "x @ weight + 2 * bias,"))
wrong("03_linear", "dy_rows|shape|leading", LIN.replace("return dy @ weight.T,", "return dy2 @ weight.T,"))
wrong(
    "03_linear",
    "2 times|twice",
    """
def tied_backward(dy, x, weight):
    code, dcode = x @ weight, dy @ weight
    x2, dy2 = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    code2, dcode2 = code.reshape(-1, code.shape[-1]), dcode.reshape(-1, dcode.shape[-1])
    return dy @ weight @ weight.T * 2, x2.T @ dcode2 + dy2.T @ code2
""",
)

# 04_gelu_mlp
GELU = """
import math

def gelu(x, form="tanh"):
    if form == "exact":
        return x * 0.5 * (1 + erf(x / math.sqrt(2))), (x, form)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + np.tanh(u)), (x, form)

def gelu_backward(dy, cache):
    x, form = cache
    if form == "exact":
        phi = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return dy * (0.5 * (1 + erf(x / math.sqrt(2))) + x * phi)
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x**3))
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x))
"""
wrong(
    "04_gelu_mlp",
    "sqrt|root|1 / sqrt|inside|divided",
    GELU.replace("* (1 + erf(x / math.sqrt(2))), (x", "* (1 + erf(x)), (x"),
)
wrong(
    "04_gelu_mlp",
    "divided by 2",
    GELU.replace("return 0.5 * x * (1 + np.tanh(u))", "return x * (1 + np.tanh(u))"),
)
wrong(
    "04_gelu_mlp",
    "cub|0.0447|term|x\\*\\*3|x \\* x \\* x",
    GELU.replace("u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)", "u = math.sqrt(2 / math.pi) * x"),
)
wrong("04_gelu_mlp", "x \\* phi|density|second|term|product|phi", GELU.replace(" + x * phi)", ")"))
wrong("04_gelu_mlp", "3|three", GELU.replace("(1 + 3 * 0.044715", "(1 + 0.044715"))
wrong(
    "04_gelu_mlp",
    "form|exact|tanh",
    GELU.replace('    if form == "exact":\n        phi', '    if form == "tanh":\n        phi'),
)
wrong("04_gelu_mlp", "dy", GELU.replace("return dy * (0.5 * (1 + t)", "return (0.5 * (1 + t)"))
wrong("04_gelu_mlp", "exponent|square", GELU.replace("(1 - t * t)", "(1 - t)"))
wrong("04_gelu_mlp", "half|root|sqrt|2|exp", GELU.replace("np.exp(-x * x / 2)", "np.exp(-x * x)"))
MLP = """
def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    h, c1 = linear(x, weight1, bias1)
    g, cg = gelu(h, gelu_form)
    y, c2 = linear(g, weight2, bias2)
    return y, (c1, cg, c2)

def mlp_backward(dy, cache):
    c1, cg, c2 = cache
    dg, dw2, db2 = linear_backward(dy, c2)
    dh = gelu_backward(dg, cg)
    dx, dw1, db1 = linear_backward(dh, c1)
    return dx, dw1, db1, dw2, db2
"""
IMPORTED = "from tinyvit.ops import erf, linear, linear_backward\n"
wrong("04_gelu_mlp", "nothing stood|gelu", IMPORTED + MLP.replace("dh = gelu_backward(dg, cg)", "dh = dg"))
wrong("04_gelu_mlp", "form", IMPORTED + MLP.replace("gelu(h, gelu_form)", "gelu(h)"))
wrong(
    "04_gelu_mlp",
    "order|exchanged|number|shape",
    IMPORTED + MLP.replace("return dx, dw1, db1, dw2, db2", "return dx, dw2, db2, dw1, db1"),
)
wrong(
    "04_gelu_mlp",
    "gate|a \\* gate|term|1 - gate|slope",
    """
def swiglu_backward(dy, x, weight_a, weight_b, weight_out):
    a, b = x @ weight_a, x @ weight_b
    gate = 1 / (1 + np.exp(-a))
    rows = lambda array: array.reshape(-1, array.shape[-1])
    dh = dy @ weight_out.T
    dout = rows(a * gate * b).T @ rows(dy)
    da, db = dh * b * gate, dh * a * gate
    return da @ weight_a.T + db @ weight_b.T, rows(x).T @ rows(da), rows(x).T @ rows(db), dout
""",
)
wrong(
    "04_gelu_mlp",
    "bent half|weight_b|db",
    """
def swiglu_backward(dy, x, weight_a, weight_b, weight_out):
    a, b = x @ weight_a, x @ weight_b
    gate = 1 / (1 + np.exp(-a))
    rows = lambda array: array.reshape(-1, array.shape[-1])
    dh = dy @ weight_out.T
    dout = rows(a * gate * b).T @ rows(dy)
    da, db = dh * b * (gate + a * gate * (1 - gate)), dh * a * gate
    return da @ weight_a.T, rows(x).T @ rows(da), rows(x).T @ rows(db), dout
""",
)
GELU2 = """
import math

def gelu(x, form="tanh"):
    if form == "exact":
        return x * 0.5 * (1 + erf(x / math.sqrt(2))), (x, form)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + np.tanh(u)), (x, form)

def gelu_backward(dy, cache):
    x, form = cache
    if form == "exact":
        phi = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return dy * (0.5 * (1 + erf(x / math.sqrt(2))) + x * phi)
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x**3))
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x))
"""
wrong("04_gelu_mlp", "x|factor", GELU2.replace("return x * 0.5 * (1 + erf", "return 0.5 * (1 + erf"))
wrong(
    "04_gelu_mlp", "pi|root|sqrt", GELU2.replace("u = math.sqrt(2 / math.pi)", "u = math.sqrt(math.pi / 2)")
)
wrong(
    "04_gelu_mlp",
    "form",
    GELU2.replace('if form == "exact":\n        return', 'if form == "never":\n        return'),
)
wrong(
    "04_gelu_mlp",
    "pi|sqrt|root|density",
    GELU2.replace("np.exp(-x * x / 2) / math.sqrt(2 * math.pi)", "np.exp(-x * x / 2)"),
)
wrong(
    "04_gelu_mlp", "sign|minus|exp|not finite|grow", GELU2.replace("np.exp(-x * x / 2)", "np.exp(x * x / 2)")
)
MLP2 = """
def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    h, c1 = linear(x, weight1, bias1)
    g, cg = gelu(h, gelu_form)
    y, c2 = linear(g, weight2, bias2)
    return y, (c1, cg, c2)

def mlp_backward(dy, cache):
    c1, cg, c2 = cache
    dg, dw2, db2 = linear_backward(dy, c2)
    dh = gelu_backward(dg, cg)
    dx, dw1, db1 = linear_backward(dh, c1)
    return dx, dw1, db1, dw2, db2
"""
IMP = "from tinyvit.ops import erf, linear, linear_backward\n"
wrong("04_gelu_mlp", "gelu|g\\b|h\\b", IMP + MLP2.replace("linear(g, weight2", "linear(h, weight2"))
wrong(
    "04_gelu_mlp",
    "nothing stood|dg\\b",
    IMP + MLP2.replace("linear_backward(dh, c1)", "linear_backward(dg, c1)"),
)
wrong(
    "04_gelu_mlp",
    "gate|a\\b|term",
    """
def swiglu_backward(dy, x, weight_a, weight_b, weight_out):
    a, b = x @ weight_a, x @ weight_b
    gate = 1 / (1 + np.exp(-a))
    rows = lambda array: array.reshape(-1, array.shape[-1])
    dh = dy @ weight_out.T
    dout = rows(a * gate * b).T @ rows(dy)
    da, db = dh * b * (a * gate * (1 - gate)), dh * a * gate
    return da @ weight_a.T + db @ weight_b.T, rows(x).T @ rows(da), rows(x).T @ rows(db), dout
""",
)

# 05_patches
wrong(
    "05_patches",
    "at once|transpose|position",
    """
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError("no")
    return images.reshape(B, (H // patch) * (W // patch), patch * patch * C), (images.shape, patch)
""",
)
wrong(
    "05_patches",
    "down the columns|order",
    """
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError("no")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 3, 1, 2, 4, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)
""",
)
wrong(
    "05_patches",
    "order|axes|channel|position|transpose",
    """
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError("no")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 1, 3, 5, 2, 4)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)
""",
)
wrong(
    "05_patches",
    "cut off|accepted",
    """
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch:
        raise ValueError("no")
    h, w = H // patch, W // patch
    x = images[:, :, : w * patch].reshape(B, h, patch, w, patch, C).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)
""",
)
wrong(
    "05_patches",
    "at once|position",
    """
def unpatchify(patches, shape, patch):
    return patches.reshape(shape)
""",
)
wrong(
    "05_patches",
    "rows|columns|H|W|exchanged|position|order|square",
    """
def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, W // patch, H // patch, patch, patch, C)
    return x.transpose(0, 2, 3, 1, 4, 5).reshape(shape)
""",
)
wrong(
    "05_patches",
    "last|end|before|row 0|first|order|behind|after",
    """
def class_token(x, token):
    row = np.broadcast_to(token, (len(x), 1, x.shape[-1]))
    return np.concatenate([x, row], axis=1), None
""",
)
wrong(
    "05_patches",
    "mean",
    """
def class_token_backward(dy, cache):
    return dy[:, 1:].copy(), dy[:, 0].mean(axis=0)
""",
)
wrong(
    "05_patches",
    "mean",
    """
def position_embedding_backward(dy, cache):
    return dy.copy(), dy.mean(axis=0)
""",
)
wrong(
    "05_patches",
    "summed over the positions",
    """
def position_embedding_backward(dy, cache):
    return dy.copy(), np.broadcast_to(dy.sum(axis=(0, 1)), dy.shape[1:]).copy()
""",
)
wrong(
    "05_patches",
    "order|exchanged",
    """
def grid_positions_backward(dy, rows, columns):
    B, _, D = dy.shape
    patches = dy[:, 1:].reshape(B, rows, columns, D)
    return dy.copy(), patches.sum(axis=(0, 1)), patches.sum(axis=(0, 2))
""",
)
wrong(
    "05_patches",
    "trust|wrong|forward|value",
    """
def trust_class_token(forward, backward):
    rng = np.random.default_rng(0)
    x, token = rng.normal(size=(3, 4, 5)), rng.normal(size=5)
    return max(check_gradients(forward, backward, (x, token), rng)) < 1e-6
""",
)
wrong(
    "05_patches",
    "order|position|axes|channel|transpose|columns",
    """
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError("no")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 1, 3, 4, 2, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)
""",
)
wrong(
    "05_patches",
    "taken whole",
    """
def class_token_backward(dy, cache):
    return dy.copy(), dy[:, 0].sum(axis=0)
""",
)
wrong(
    "05_patches",
    "averag|divid|mean|sum|add",
    """
def overlapping_patches_backward(dy, shape, patch, stride):
    B, H, W, C = shape
    rows, columns = (H - patch) // stride + 1, (W - patch) // stride + 1
    dx, count = np.zeros(shape, dy.dtype), np.zeros(shape, dy.dtype)
    for r in range(rows):
        for c in range(columns):
            piece = dy[:, r * columns + c].reshape(B, patch, patch, C)
            part = slice(r * stride, r * stride + patch), slice(c * stride, c * stride + patch)
            dx[:, part[0], part[1]] += piece
            count[:, part[0], part[1]] += 1
    return dx / np.maximum(count, 1)
""",
)
wrong(
    "05_patches",
    "token|last|first|slice|shift|row 0",
    """
def grid_positions_backward(dy, rows, columns):
    B, _, D = dy.shape
    patches = dy[:, :-1].reshape(B, rows, columns, D)
    return dy.copy(), patches.sum(axis=(0, 2)), patches.sum(axis=(0, 1))
""",
)

# 06_attention
HEAD = """
def single_head(q, k, v):
    S = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    A, cache = softmax(S)
    return A @ v, (q, k, v, A)

def single_head_backward(dy, cache):
    q, k, v, A = cache
    dv = A.swapaxes(-1, -2) @ dy
    dA = dy @ v.swapaxes(-1, -2)
    dS = softmax_backward(dA, A) / math.sqrt(q.shape[-1])
    dq = dS @ k
    dk = dS.swapaxes(-1, -2) @ q
    return dq, dk, dv
"""
wrong(
    "06_attention",
    "root|sqrt|K",
    HEAD.replace("k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])", "k.swapaxes(-1, -2)"),
)
wrong(
    "06_attention",
    "root|sqrt",
    HEAD.replace("k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])", "k.swapaxes(-1, -2) / q.shape[-1]"),
)
wrong(
    "06_attention",
    "tokens that ask|axis|column",
    HEAD.replace("A, cache = softmax(S)", "A = softmax(S.swapaxes(-1, -2))[0].swapaxes(-1, -2)"),
)
wrong(
    "06_attention",
    "root|sqrt|K",
    HEAD.replace("softmax_backward(dA, A) / math.sqrt(q.shape[-1])", "softmax_backward(dA, A)"),
)
wrong("06_attention", "softmax", HEAD.replace("softmax_backward(dA, A) / ", "dA / "))
wrong("06_attention", "transpose", HEAD.replace("dv = A.swapaxes(-1, -2) @ dy", "dv = A @ dy"))
wrong("06_attention", "as it is|transpose", HEAD.replace("dk = dS.swapaxes(-1, -2) @ q", "dk = dS @ q"))
wrong("06_attention", "exchanged|q|dk should", HEAD.replace("dq = dS @ k\n", "dq = dS @ q\n"))
wrong(
    "06_attention",
    "exchanged|dk should|dq should|order",
    HEAD.replace("return dq, dk, dv", "return dk, dq, dv"),
)
wrong(
    "06_attention",
    "softmax|sum|term|diagonal",
    HEAD.replace("softmax_backward(dA, A) / math", "dA * A * (1 - A) / math"),
)
wrong(
    "06_attention",
    "number of tokens|sequence|N|root of|size|length",
    HEAD.replace("/ math.sqrt(q.shape[-1])\n    A", "/ math.sqrt(q.shape[1])\n    A"),
)
MANY = """
def split_heads(qkv, heads):
    B, N, columns = qkv.shape
    K = columns // (3 * heads)
    qkv = qkv.reshape(B, N, 3, heads, K)
    return tuple(qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))

def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    B, N, D = x.shape
    qkv, c1 = linear(x, qkv_weight, qkv_bias)
    q, k, v = split_heads(qkv, heads)
    scale = 1 / math.sqrt(D // heads)
    A, _ = softmax(q @ k.swapaxes(-1, -2) * scale)
    o = (A @ v).transpose(0, 2, 1, 3).reshape(B, N, D)
    y, c2 = linear(o, out_weight, out_bias)
    return y, (c1, c2, q, k, v, A, scale)

def attention_backward(dy, cache):
    c1, c2, q, k, v, A, scale = cache
    B, H, N, K = q.shape
    do, dwo, dbo = linear_backward(dy, c2)
    do = do.reshape(B, N, H, K).transpose(0, 2, 1, 3)
    dv = A.swapaxes(-1, -2) @ do
    dS = softmax_backward(do @ v.swapaxes(-1, -2), A) * scale
    dq, dk = dS @ k, dS.swapaxes(-1, -2) @ q
    parts = [d.transpose(0, 2, 1, 3).reshape(B, N, H * K) for d in (dq, dk, dv)]
    dx, dwqkv, dbqkv = linear_backward(np.concatenate(parts, axis=-1), c1)
    return dx, dwqkv, dbqkv, dwo, dbo
"""
OPS6 = "from tinyvit.ops import linear, linear_backward\n"
wrong(
    "06_attention",
    "order|head|columns|reshape|axes|position",
    OPS6
    + MANY.replace(
        """    qkv = qkv.reshape(B, N, 3, heads, K)
    return tuple(qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))""",
        """    qkv = qkv.reshape(B, N, heads, 3, K)
    return tuple(qkv[:, :, :, i].transpose(0, 2, 1, 3) for i in range(3))""",
    ),
)
wrong(
    "06_attention",
    "transpose|side by side|join|order|reshape|head",
    OPS6 + MANY.replace("o = (A @ v).transpose(0, 2, 1, 3).reshape(B, N, D)", "o = (A @ v).reshape(B, N, D)"),
)
wrong(
    "06_attention",
    "transpose|cut|head|reshape|order",
    OPS6 + MANY.replace("do = do.reshape(B, N, H, K).transpose(0, 2, 1, 3)", "do = do.reshape(B, H, N, K)"),
)
wrong(
    "06_attention",
    "D|root|heads|head",
    OPS6 + MANY.replace("scale = 1 / math.sqrt(D // heads)", "scale = 1 / math.sqrt(D)"),
)
wrong(
    "06_attention",
    "returned as they are|out",
    OPS6
    + MANY.replace(
        "y, c2 = linear(o, out_weight, out_bias)", "y, c2 = o, linear(o, out_weight, out_bias)[1]"
    ),
)
wrong(
    "06_attention",
    "order|exchanged|dk|dq|k q",
    OPS6 + MANY.replace("for d in (dq, dk, dv)", "for d in (dk, dq, dv)"),
)
wrong("06_attention", "scale|root|K", OPS6 + MANY.replace(", A) * scale", ", A)"))
wrong(
    "06_attention",
    "transpose|join|head|order|position",
    OPS6 + MANY.replace("d.transpose(0, 2, 1, 3).reshape(B, N, H * K)", "d.reshape(B, N, H * K)"),
)
wrong(
    "06_attention",
    "last piece|other queries|\\+=|add|piece|overwrit",
    """
def lean_backward(dy, q, k, v, piece):
    scale = 1 / math.sqrt(q.shape[-1])
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for start in range(0, q.shape[1], piece):
        part = slice(start, start + piece)
        A, _ = softmax(q[:, part] @ k.swapaxes(-1, -2) * scale)
        dS = softmax_backward(dy[:, part] @ v.swapaxes(-1, -2), A) * scale
        dq[:, part] = dS @ k
        dk[:] = dS.swapaxes(-1, -2) @ q[:, part]
        dv += A.swapaxes(-1, -2) @ dy[:, part]
    return dq, dk, dv
""",
)
HEAD2 = """
def single_head(q, k, v):
    S = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    A, cache = softmax(S)
    return A @ v, (q, k, v, A)

def single_head_backward(dy, cache):
    q, k, v, A = cache
    dv = A.swapaxes(-1, -2) @ dy
    dA = dy @ v.swapaxes(-1, -2)
    dS = softmax_backward(dA, A)
    dq = dS @ k / math.sqrt(q.shape[-1])
    dk = dS.swapaxes(-1, -2) @ q / math.sqrt(q.shape[-1])
    return dq, dk, dv
"""
wrong(
    "06_attention",
    "multipl|divided|root",
    HEAD2.replace("k.swapaxes(-1, -2) / math.sqrt", "k.swapaxes(-1, -2) * math.sqrt"),
)
wrong(
    "06_attention",
    "\\bA\\b|same as dy|factor|mixed",
    HEAD2.replace("dv = A.swapaxes(-1, -2) @ dy", "dv = dy.copy()"),
)
wrong(
    "06_attention",
    "\\bA\\b|dA|exchanged|taken|softmax",
    HEAD2.replace("softmax_backward(dA, A)", "softmax_backward(A, dA)"),
)
wrong("06_attention", "S in the place of A|softmax", HEAD2.replace("A, cache = softmax(S)", "A = S"))
wrong("06_attention", "matmul|transpose|v", HEAD2.replace("dA = dy @ v.swapaxes(-1, -2)", "dA = dy @ v"))
MANY2 = """
def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    B, N, D = x.shape
    qkv, c1 = linear(x, qkv_weight, qkv_bias)
    q, k, v = qkv.reshape(B, N, 3, heads, D // heads).transpose(2, 0, 3, 1, 4)
    scale = 1 / math.sqrt(D // heads)
    A, _ = softmax(q @ k.swapaxes(-1, -2) * scale)
    o = (A @ v).transpose(0, 2, 1, 3).reshape(B, N, D)
    y, c2 = linear(o, out_weight, out_bias)
    return y, (c1, c2, q, k, v, A, scale)

def attention_backward(dy, cache):
    c1, c2, q, k, v, A, scale = cache
    B, H, N, K = q.shape
    do, dwo, dbo = linear_backward(dy, c2)
    do = do.reshape(B, N, H, K).transpose(0, 2, 1, 3)
    dv = A.swapaxes(-1, -2) @ do
    dS = softmax_backward(do @ v.swapaxes(-1, -2), A) * scale
    dq, dk = dS @ k, dS.swapaxes(-1, -2) @ q
    dqkv = np.stack([dq, dk, dv], axis=2)
    dqkv = dqkv.transpose(0, 3, 2, 1, 4).reshape(B, N, 3 * H * K)
    dx, dwqkv, dbqkv = linear_backward(dqkv, c1)
    return dx, dwqkv, dbqkv, dwo, dbo
"""
OPS = "from tinyvit.ops import linear, linear_backward, softmax, softmax_backward\n"
wrong(
    "06_attention",
    "linear|out|dy|product|weight",
    OPS + MANY2.replace("    do = do.reshape(B, N, H, K)", "    do = dy.reshape(B, N, H, K)"),
)
wrong(
    "06_attention",
    "root|scale|K|not divided",
    OPS
    + MANY2.replace(
        "A, _ = softmax(q @ k.swapaxes(-1, -2) * scale)", "A, _ = softmax(q @ k.swapaxes(-1, -2))"
    ),
)
wrong(
    "06_attention",
    "transpose|exchanged",
    OPS + MANY2.replace("q, k, v = qkv.reshape", "k, q, v = qkv.reshape"),
)
wrong(
    "06_attention",
    "order|axes|transpose|side by side",
    OPS + MANY2.replace("transpose(0, 3, 2, 1, 4).reshape", "transpose(0, 3, 1, 2, 4).reshape"),
)
wrong(
    "06_attention",
    "repeat|tile|order|group|neighbour|turn",
    """
def grouped_heads_backward(dy, q, k, v):
    B, H, N, K = q.shape
    G = k.shape[1]
    kk, vv = np.tile(k, (1, H // G, 1, 1)), np.tile(v, (1, H // G, 1, 1))
    A, _ = softmax(q @ kk.swapaxes(-1, -2) / math.sqrt(K))
    dS = softmax_backward(dy @ vv.swapaxes(-1, -2), A) / math.sqrt(K)
    dk = (dS.swapaxes(-1, -2) @ q).reshape(B, H // G, G, N, K).sum(axis=1)
    dv = (A.swapaxes(-1, -2) @ dy).reshape(B, H // G, G, N, K).sum(axis=1)
    return dS @ kk, dk, dv
""",
)

# 07_layer_norm
NORM = """
def layer_norm(x, weight, bias, eps=1e-6):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    r = 1 / np.sqrt(var + eps)
    n = (x - mean) * r
    y = n * weight + bias
    return y, (n, r, weight)

def layer_norm_backward(dy, cache):
    n, r, weight = cache
    axes = tuple(range(dy.ndim - 1))
    dweight = (dy * n).sum(axis=axes)
    dbias = dy.sum(axis=axes)
    g = dy * weight
    dx = r * (g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))
    return dx, dweight, dbias
"""
wrong(
    "07_layer_norm",
    "eps",
    NORM.replace("np.sqrt(var + eps)", "np.sqrt(var) + eps").replace(
        "r = 1 / np.sqrt(var) + eps", "r = 1 / (np.sqrt(var) + eps)"
    ),
)
wrong(
    "07_layer_norm",
    "D - 1|unbiased|ddof|variance|- 1|std",
    NORM.replace("((x - mean) ** 2).mean(axis=-1, keepdims=True)", "x.var(axis=-1, keepdims=True, ddof=1)"),
)
wrong("07_layer_norm", "root|sqrt|variance", NORM.replace("1 / np.sqrt(var + eps)", "1 / (var + eps)"))
wrong("07_layer_norm", "bias", NORM.replace("n * weight + bias", "n * weight"))
wrong(
    "07_layer_norm",
    "y in the place of n",
    NORM.replace("return y, (n, r, weight)", "return y, (y, r, weight)"),
)
wrong(
    "07_layer_norm",
    "mean of g\\b|through the mean|mean|term",
    NORM.replace("g - g.mean(axis=-1, keepdims=True) - n", "g - n"),
)
wrong(
    "07_layer_norm",
    "through r|g \\* n|g and n|n|term|variance",
    NORM.replace(" - n * (g * n).mean(axis=-1, keepdims=True))", ")"),
)
wrong("07_layer_norm", "weight|gain", NORM.replace("g = dy * weight", "g = dy"))
wrong("07_layer_norm", "mean|sum|rows", NORM.replace("(dy * n).sum(axis=axes)", "(dy * n).mean(axis=axes)"))
wrong(
    "07_layer_norm",
    "n|factor",
    NORM.replace("dweight = (dy * n).sum(axis=axes)", "dweight = dy.sum(axis=axes)"),
)
wrong("07_layer_norm", "\\br\\b", NORM.replace("dx = r * (g", "dx = (g"))
wrong("07_layer_norm", "sum|mean", NORM.replace("n * (g * n).mean(", "n * (g * n).sum("))
wrong(
    "07_layer_norm",
    "axis|rows|leading|shape|summed",
    NORM.replace("dbias = dy.sum(axis=axes)", "dbias = dy.sum(axis=0)"),
)
wrong(
    "07_layer_norm",
    "axis|row|mean",
    NORM.replace("mean = x.mean(axis=-1, keepdims=True)", "mean = x.mean(axis=0, keepdims=True)"),
)
wrong(
    "07_layer_norm",
    "0.1|tenth|trust|small|percent|hundredth|slightly",
    """
def trust_layer_norm(forward, backward):
    rng = np.random.default_rng(0)
    for shape in ((4, 5), (3, 2, 5), (2, 3, 2, 4)):
        x, weight, bias = rng.normal(3, 2, shape), rng.normal(1, 0.5, shape[-1]), rng.normal(size=shape[-1])
        errors = check_gradients(lambda *inputs: forward(*inputs, eps=0.5), backward, (x, weight, bias), rng)
        if not max(errors) < 0.1:
            return False
    return True
""",
)
wrong(
    "07_layer_norm",
    "first|all|whole|only",
    """
def rms_norm_backward(dy, x, weight, first, eps=1e-6):
    r = 1 / np.sqrt((x[..., :first] ** 2).mean(axis=-1, keepdims=True) + eps)
    g = dy * weight
    dx = r * g - x * r**3 * (g * x).sum(axis=-1, keepdims=True) / first
    return dx, (dy * x * r).sum(axis=tuple(range(dy.ndim - 1)))
""",
)
NORM2 = """
def layer_norm(x, weight, bias, eps=1e-6):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    r = 1 / np.sqrt(var + eps)
    n = (x - mean) * r
    y = n * weight + bias
    return y, (n, r, weight)

def layer_norm_backward(dy, cache):
    n, r, weight = cache
    axes = tuple(range(dy.ndim - 1))
    dweight = (dy * n).sum(axis=axes)
    dbias = dy.sum(axis=axes)
    g = dy * weight
    dx = r * (g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))
    return dx, dweight, dbias
"""
wrong("07_layer_norm", "mean|centred|taken off|variance", NORM2.replace("((x - mean) ** 2)", "(x ** 2)"))
wrong("07_layer_norm", "eps", NORM2.replace("var + eps", "var"))
wrong("07_layer_norm", "dy|weight|gain|g\\b", NORM2.replace("g - g.mean(", "g - dy.mean("))
wrong(
    "07_layer_norm",
    "\\br\\b.*(missing|left out)",
    NORM2.replace(
        "dx = r * (g - g.mean(axis=-1, keepdims=True) - n",
        "dx = (r * (g - g.mean(axis=-1, keepdims=True)) - n",
    ),
)
wrong(
    "07_layer_norm",
    "all terms but|both|path",
    NORM2.replace(
        "dx = r * (g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))",
        "dx = r * g",
    ),
)
wrong(
    "07_layer_norm",
    "keepdims|broadcast",
    NORM2.replace("(g * n).mean(axis=-1, keepdims=True)", "(g * n).mean(axis=-1)"),
)
wrong("07_layer_norm", "gain|weight|factor|g\\b", NORM2.replace("y = n * weight + bias", "y = n + bias"))

# 08_vit
BLOCKS = """
def pick(params, *names):
    return [params[name + end] for name in names for end in (".weight", ".bias")]

def block(x, params, heads):
    n1, c1 = ops.layer_norm(x, *pick(params, "norm1"))
    a, c2 = ops.attention(n1, *pick(params, "attn.qkv", "attn.out"), heads)
    x = x + a
    n2, c3 = ops.layer_norm(x, *pick(params, "norm2"))
    m, c4 = ops.mlp(n2, *pick(params, "mlp.fc1", "mlp.fc2"))
    return x + m, (c1, c2, c3, c4)

def block_backward(dy, cache):
    c1, c2, c3, c4 = cache
    g = {}
    dn, g["mlp.fc1.weight"], g["mlp.fc1.bias"], g["mlp.fc2.weight"], g["mlp.fc2.bias"] = ops.mlp_backward(dy, c4)
    dn, g["norm2.weight"], g["norm2.bias"] = ops.layer_norm_backward(dn, c3)
    dx = dy + dn
    dn, *grads = ops.attention_backward(dx, c2)
    for name, grad in zip(BLOCK[2:6], grads):
        g[name] = grad
    dn, g["norm1.weight"], g["norm1.bias"] = ops.layer_norm_backward(dn, c1)
    return dx + dn, g
"""
wrong("08_vit", "term x|skip|stream", BLOCKS.replace("    x = x + a\n", "    x = a\n"))
wrong(
    "08_vit",
    "norm2|second|norm1",
    BLOCKS.replace('ops.layer_norm(x, *pick(params, "norm2"))', 'ops.layer_norm(x, *pick(params, "norm1"))'),
)
wrong(
    "08_vit",
    "made with x|norm|before",
    BLOCKS.replace("a, c2 = ops.attention(n1,", "a, c2 = ops.attention(x,"),
)
wrong("08_vit", "only the branch|skip", BLOCKS.replace("return dx + dn, g", "return dn, g"))
wrong(
    "08_vit",
    "attention|dy|middle|gradient that|arrives|branch",
    BLOCKS.replace("ops.attention_backward(dx, c2)", "ops.attention_backward(dy, c2)"),
)
wrong(
    "08_vit",
    "dy|middle|skip|term|stream|branch|mlp",
    BLOCKS.replace("return dx + dn, g", "return dy + dn, g"),
)
wrong(
    "08_vit",
    "in the place of|norm2",
    BLOCKS.replace(
        '    dn, g["norm2.weight"], g["norm2.bias"] = ops.layer_norm_backward(dn, c3)\n    dx',
        '    _, g["norm2.weight"], g["norm2.bias"] = ops.layer_norm_backward(dn, c3)\n    dx',
    ),
)
MODEL = (
    BLOCKS
    + """
def forward(config, params, images):
    x, _ = ops.patchify(images, config.patch_size)
    x, patch = ops.linear(x, params["patch.weight"], params["patch.bias"])
    x, _ = ops.class_token(x, params["class_token"])
    x, _ = ops.position_embedding(x, params["position"])
    caches = []
    for i in range(config.layers):
        mine = {name: params[f"blocks.{i}.{name}"] for name in BLOCK}
        x, c = block(x, mine, config.heads)
        caches.append(c)
    x, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"])
    logits, head = ops.linear(x[:, 0], params["head.weight"], params["head.bias"])
    return logits, (patch, caches, norm, x.shape, head)

def backward(dlogits, cache):
    patch, caches, norm, shape, head = cache
    g = {}
    d, g["head.weight"], g["head.bias"] = ops.linear_backward(dlogits, head)
    dx = np.zeros(shape, dlogits.dtype)
    dx[:, 0] = d
    dx, g["norm.weight"], g["norm.bias"] = ops.layer_norm_backward(dx, norm)
    for i in reversed(range(len(caches))):
        dx, grads = block_backward(dx, caches[i])
        for name in grads:
            g[f"blocks.{i}.{name}"] = grads[name]
    dx, g["position"] = ops.position_embedding_backward(dx, None)
    dx, g["class_token"] = ops.class_token_backward(dx, None)
    _, g["patch.weight"], g["patch.bias"] = ops.linear_backward(dx, patch)
    return g
"""
)
wrong(
    "08_vit",
    "mean|row 0|class token|pool|token",
    MODEL.replace("ops.linear(x[:, 0], params", "ops.linear(x.mean(axis=1), params"),
)
wrong("08_vit", "position", MODEL.replace('    x, _ = ops.position_embedding(x, params["position"])\n', ""))
wrong(
    "08_vit",
    "No LayerNorm|norm",
    MODEL.replace(
        'x, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"])',
        '_, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"])',
    ),
)
wrong(
    "08_vit",
    "same|block 0|first block|one block|blocks",
    MODEL.replace('f"blocks.{i}.{name}"] for name', 'f"blocks.0.{name}"] for name'),
)
wrong(
    "08_vit",
    "order|reverse|first|last",
    MODEL.replace("for i in reversed(range(len(caches))):", "for i in range(len(caches)):"),
)
wrong("08_vit", "row|token|all|broadcast|first", MODEL.replace("dx[:, 0] = d", "dx[:] = d[:, None]"))
wrong("08_vit", "last row|row -1|row 0|-1|last|row", MODEL.replace("dx[:, 0] = d", "dx[:, -1] = d"))
wrong(
    "08_vit",
    "transpose|token|patch|order|slice|row",
    """
def pixel_gradient(config, params, images, dlogits):
    _, _, _, blocks, norm, shape, head = forward(config, params, images)[1]
    dx = np.zeros(shape, dlogits.dtype)
    dx[:, 0] = ops.linear_backward(dlogits, head)[0]
    dx = ops.layer_norm_backward(dx, norm)[0]
    for cache_of_block in reversed(blocks):
        dx, _ = block_backward(dx, cache_of_block)
    dpatches = dx[:, :-1] @ params["patch.weight"].T
    return ops.unpatchify(dpatches, images.shape, config.patch_size)
""",
)
BLOCK2 = """
def pick(params, *names):
    return [params[name + end] for name in names for end in (".weight", ".bias")]

def block(x, params, heads):
    n1, c1 = ops.layer_norm(x, *pick(params, "norm1"))
    a, c2 = ops.attention(n1, *pick(params, "attn.qkv", "attn.out"), heads)
    x = x + a
    n2, c3 = ops.layer_norm(x, *pick(params, "norm2"))
    m, c4 = ops.mlp(n2, *pick(params, "mlp.fc1", "mlp.fc2"))
    return x + m, (c1, c2, c3, c4)

def block_backward(dy, cache):
    c1, c2, c3, c4 = cache
    g = {}
    dn, g["mlp.fc1.weight"], g["mlp.fc1.bias"], g["mlp.fc2.weight"], g["mlp.fc2.bias"] = ops.mlp_backward(dy, c4)
    dn, g["norm2.weight"], g["norm2.bias"] = ops.layer_norm_backward(dn, c3)
    dx = dy + dn
    dn, *grads = ops.attention_backward(dx, c2)
    for name, grad in zip(BLOCK[2:6], grads):
        g[name] = grad
    dn, g["norm1.weight"], g["norm1.bias"] = ops.layer_norm_backward(dn, c1)
    return dx + dn, g
"""
wrong("08_vit", "\\bn\\b|norm|before|made with x", BLOCK2.replace("ops.mlp(n2,", "ops.mlp(x,"))
wrong("08_vit", "skip|term x|stream|added", BLOCK2.replace("return x + m, (c1", "return m, (c1"))
wrong("08_vit", "only the branch|skip|dy", BLOCK2.replace("    dx = dy + dn\n", "    dx = dn\n"))
wrong("08_vit", "2 times|twice", BLOCK2.replace("return dx + dn, g", "return dy + dx + dn, g"))
wrong(
    "08_vit",
    "n1|before|skip|normalis|x is made|in the place|stream",
    BLOCK2.replace("    x = x + a\n", "    x = n1 + a\n"),
)
wrong(
    "08_vit",
    "order|exchanged|fc2",
    BLOCK2.replace(
        'dn, g["mlp.fc1.weight"], g["mlp.fc1.bias"], g["mlp.fc2.weight"], g["mlp.fc2.bias"] = ',
        'dn, g["mlp.fc2.weight"], g["mlp.fc2.bias"], g["mlp.fc1.weight"], g["mlp.fc1.bias"] = ',
    ),
)

# 09_optimisers
ADAM = """
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g**2
    mh = m / (1 - b1**step)
    vh = v / (1 - b2**step)
    w = w - lr * weight_decay * w
    w = w - lr * mh / (np.sqrt(vh) + eps)
    return w, m, v
"""
wrong("09_optimisers", "eps", ADAM.replace("(np.sqrt(vh) + eps)", "np.sqrt(vh + eps)"))
wrong("09_optimisers", "lr|rate", ADAM.replace("lr * weight_decay * w", "weight_decay * w"))
wrong("09_optimisers", "\\bg\\b|square", ADAM.replace("g**2", "g"))
wrong("09_optimisers", "exponent|step", ADAM.replace("(1 - b2**step)", "(1 - b2)"))
wrong("09_optimisers", "root|sqrt", ADAM.replace("(np.sqrt(vh) + eps)", "(vh + eps)"))
wrong(
    "09_optimisers",
    "decay|gradient|L2",
    ADAM.replace("    w = w - lr * weight_decay * w\n", "").replace(
        "    m = b1", "    g = g + weight_decay * w\n    m = b1"
    ),
)
wrong("09_optimisers", "1 - b1|factor|1 - b", ADAM.replace("m = b1 * m + (1 - b1) * g", "m = b1 * m + g"))
wrong("09_optimisers", "sign|plus|minus", ADAM.replace("w - lr * mh", "w + lr * mh"))
wrong(
    "09_optimisers",
    "decay|order|after|before",
    ADAM.replace(
        "    w = w - lr * weight_decay * w\n    w = w - lr * mh / (np.sqrt(vh) + eps)\n",
        "    w = w - lr * mh / (np.sqrt(vh) + eps)\n    w = w - lr * weight_decay * w\n",
    ),
)
wrong(
    "09_optimisers",
    "each|entry|norm|whole|clip|element|cut off",
    """
def clip_norm(g, largest):
    return np.clip(g, -largest, largest), math.sqrt((g * g).sum())
""",
)
wrong(
    "09_optimisers",
    "short|small|already|never|more than 1|scaled up|below|always",
    """
def clip_norm(g, largest):
    norm = math.sqrt((g * g).sum())
    return (g * (largest / norm) if norm > 0 else g.copy()), norm
""",
)
RATE = """
def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * step / warmup
    done = (step - 1 - warmup) / (total - warmup)
    if decay == "linear":
        return peak * (1 - done)
    return peak * (1 + math.cos(math.pi * done)) / 2
"""
wrong(
    "09_optimisers",
    "warm|total|done|share",
    RATE.replace("(step - 1 - warmup) / (total - warmup)", "(step - 1) / total"),
)
wrong("09_optimisers", "1|step|one|last|first", RATE.replace("(step - 1 - warmup)", "(step - warmup)"))
wrong(
    "09_optimisers",
    "2|half|twice",
    RATE.replace("(1 + math.cos(math.pi * done)) / 2", "(1 + math.cos(math.pi * done))"),
)
ADAM2 = """
def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g**2
    mh = m / (1 - b1**step)
    vh = v / (1 - b2**step)
    w = w - lr * weight_decay * w
    w = w - lr * mh / (np.sqrt(vh) + eps)
    return w, m, v
"""
wrong("09_optimisers", "exponent|step", ADAM2.replace("(1 - b1**step)", "(1 - b1**(step + 1))"))
wrong("09_optimisers", "m\\b|momentum|mean|\\bg\\b|m_hat", ADAM2.replace("lr * mh /", "lr * g /"))
wrong(
    "09_optimisers",
    "correct|m_hat|bias|returned|carried",
    ADAM2.replace("return w, m, v", "return w, mh, vh"),
)
wrong("09_optimisers", "v\\b|m\\b|g\\b", ADAM2.replace("(1 - b2) * g**2", "(1 - b2) * m**2"))
wrong(
    "09_optimisers",
    "new array|in place",
    ADAM2.replace("    m = b1 * m + (1 - b1) * g\n", "    m *= b1\n    m += (1 - b1) * g\n"),
)
wrong(
    "09_optimisers",
    "after|of the result|clipped",
    """
def clip_norm(g, largest):
    norm = math.sqrt((g * g).sum())
    if norm > largest:
        g = g * (largest / norm)
    return g.copy(), math.sqrt((g * g).sum())
""",
)
RATE2 = """
def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * step / warmup
    done = (step - 1 - warmup) / (total - warmup)
    if decay == "linear":
        return peak * (1 - done)
    return peak * (1 + math.cos(math.pi * done)) / 2
"""
wrong(
    "09_optimisers",
    "linear|decay|form|case",
    RATE2.replace('    if decay == "linear":\n        return peak * (1 - done)\n', ""),
)
wrong("09_optimisers", "sign|cos", RATE2.replace("(1 + math.cos", "(1 - math.cos"))
wrong("09_optimisers", "step / warmup|constant", RATE2.replace("return peak * step / warmup", "return peak"))

# 11_overfit_one_batch
LOOP = """
def train_on_batch(config, params, images, labels, steps, lr):
    optimizer, losses = AdamW(params), []
    for step in range(1, steps + 1):
        grads = params.zeros_like()
        loss = loss_and_grads(config, params, images, labels, grads)
        optimizer.step(grads, lr, step)
        losses.append(float(loss))
    return losses
"""
wrong(
    "11_overfit_one_batch",
    "added up|clear|zero",
    LOOP.replace("        grads = params.zeros_like()\n", "").replace(
        "optimizer, losses = AdamW(params), []",
        "optimizer, losses, grads = AdamW(params), [], params.zeros_like()",
    ),
)
wrong(
    "11_overfit_one_batch",
    "copy",
    LOOP.replace(
        "optimizer, losses = AdamW(params), []",
        "optimizer, losses = AdamW(params), []\n    params = params.astype(params.flat.dtype.name)",
    ),
)
wrong("11_overfit_one_batch", "one less|from 0|counts", LOOP.replace("range(1, steps + 1)", "range(steps)"))
wrong(
    "11_overfit_one_batch",
    "optimi|new|running|Adam",
    LOOP.replace("        optimizer.step", "        optimizer = AdamW(params)\n        optimizer.step"),
)
wrong(
    "11_overfit_one_batch",
    "wrong way round|moved",
    """
def silent_parameters(before, after):
    return [name for name in before if not np.array_equal(before[name], after[name])]
""",
)
wrong(
    "11_overfit_one_batch",
    "rate|lr|step",
    """
def train_on_batch(config, params, images, labels, steps, lr):
    optimizer, losses = AdamW(params), []
    for step in range(1, steps + 1):
        grads = params.zeros_like()
        losses.append(float(loss_and_grads(config, params, images, labels, grads)))
        optimizer.step(grads, lr, 1)
    return losses
""",
)

# 12_data
wrong(
    "12_data",
    "1 - rate",
    """
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((len(x), 1, 1), np) >= rate).astype(x.dtype)
    return x * mask, mask

def drop_path_backward(dy, cache):
    return dy if cache is None else dy * cache
""",
)
wrong(
    "12_data",
    "rate stands|1 - rate",
    """
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((len(x), 1, 1), np) >= rate).astype(x.dtype) / rate
    return x * mask, mask

def drop_path_backward(dy, cache):
    return dy if cache is None else dy * cache
""",
)
wrong(
    "12_data",
    "wrong way round|below|<",
    """
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((len(x), 1, 1), np) < rate).astype(x.dtype) / (1 - rate)
    return x * mask, mask

def drop_path_backward(dy, cache):
    return dy if cache is None else dy * cache
""",
)
wrong(
    "12_data",
    "mask|passed|backward|left out|same as dy|dy",
    """
def drop_path_backward(dy, cache):
    return dy.copy()
""",
)
wrong(
    "12_data",
    "last pixel|mirror|edge",
    """
def crop_and_flip(images, indices, down, right, flip):
    n, H, W, C = images.shape
    out = []
    for i, d, r, f in zip(indices, down, right, flip):
        rows, columns = np.clip(np.arange(H) + d, 0, H - 1), np.clip(np.arange(W) + r, 0, W - 1)
        image = images[i][rows][:, columns]
        out.append(image[:, ::-1] if f else image)
    return np.stack(out)
""",
)
wrong(
    "12_data",
    "up and to the left|direction|sign",
    """
def crop_and_flip(images, indices, down, right, flip):
    n, H, W, C = images.shape
    out = []
    mirror = lambda i, n: (lambda j: np.where(j >= n, 2 * n - 2 - j, j))(np.abs(i))
    for i, d, r, f in zip(indices, down, right, flip):
        rows, columns = mirror(np.arange(H) - d, H), mirror(np.arange(W) - r, W)
        image = images[i][rows][:, columns]
        out.append(image[:, ::-1] if f else image)
    return np.stack(out)
""",
)
wrong(
    "12_data",
    "one by one|each number",
    """
def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform(x.shape, np) >= rate).astype(x.dtype) / (1 - rate)
    return x * mask, mask

def drop_path_backward(dy, cache):
    return dy if cache is None else dy * cache
""",
)
wrong(
    "12_data",
    "flip|mirror",
    """
def crop_and_flip(images, indices, down, right, flip):
    n, H, W, C = images.shape
    out = []
    mirror = lambda i, n: (lambda j: np.where(j >= n, 2 * n - 2 - j, j))(np.abs(i))
    for i, d, r, f in zip(indices, down, right, flip):
        rows, columns = mirror(np.arange(H) + d, H), mirror(np.arange(W) + r, W)
        out.append(images[i][rows][:, columns])
    return np.stack(out)
""",
)

# 13_train_cifar10
wrong(
    "13_train_cifar10",
    "not corrected|start",
    """
def smooth(values, share):
    mean, result = 0.0, []
    for value in values:
        mean = share * mean + (1 - share) * value
        result.append(mean)
    return result
""",
)
wrong(
    "13_train_cifar10",
    "first|last|equal",
    """
def best_epoch(records):
    key = "val_accuracy" if any("val_accuracy" in record for record in records) else "test_accuracy"
    best, epoch = -1.0, None
    for record in records:
        if record.get(key) is not None and record[key] >= best:
            best, epoch = record[key], record["epoch"]
    return epoch
""",
)

# 14_look_inside
wrong(
    "14_look_inside",
    "I|skip|identity|eye|half",
    """
def attention_rollout(attention):
    n, layers, heads, N, _ = attention.shape
    result = np.broadcast_to(np.eye(N, dtype=attention.dtype), (n, N, N))
    for layer in range(layers):
        result = attention[:, layer].mean(axis=1) @ result
    return result
""",
)
wrong(
    "14_look_inside",
    "length|norm|cosine|divi",
    """
def position_similarity(config, params):
    table = params["position"][1:] if config.has_token else params["position"]
    return (table @ table.T).reshape(*config.grid, *config.grid)
""",
)

# 15_recipes
wrong(
    "15_recipes",
    "norm|max|divi",
    """
def orthogonalise(g, steps=5):
    x = g / max(float(np.abs(g).max()), 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * (gram @ gram)) @ x
    return x
""",
)
wrong(
    "15_recipes",
    "changed places|exchanged",
    """
def average_step(average, weights, decay, step):
    now = min(decay, (1 + step) / (10 + step))
    return (1 - now) * average + now * weights
""",
)
wrong(
    "15_recipes",
    "max|smaller|larger|min",
    """
def average_step(average, weights, decay, step):
    now = max(decay, (1 + step) / (10 + step))
    return now * average + (1 - now) * weights
""",
)
wrong(
    "15_recipes",
    "next|before|direction|-1|shift|previous|roll",
    """
def mixed_cross_entropy(logits, labels, shares):
    own = np.eye(logits.shape[1])[labels]
    targets = own + np.asarray(shares)[:, None] * (np.roll(own, 1, axis=0) - own)
    loss, cache = cross_entropy(logits, targets)
    return loss, cross_entropy_backward(cache)
""",
)

# 18_transfer
wrong(
    "18_transfer",
    "twice|double",
    """
def ridge_weights(X, Y, ridge):
    F = X.shape[1]
    return np.linalg.solve(X.T @ X + 2 * ridge * np.eye(F, dtype=X.dtype), X.T @ Y)
""",
)
wrong(
    "18_transfer",
    "mean",
    """
def probe_inputs(features, mean, std):
    x = features.astype(np.float64) / (std + 1e-5)
    return np.concatenate([x, np.full((len(x), 1), 100.0)], axis=1)
""",
)
wrong(
    "18_transfer",
    "their own|given",
    """
def probe_inputs(features, mean, std):
    x = features.astype(np.float64)
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)
    return np.concatenate([x, np.full((len(x), 1), 100.0)], axis=1)
""",
)
wrong(
    "18_transfer",
    "identity|diagonal",
    """
def ridge_weights(X, Y, ridge):
    return np.linalg.solve(X.T @ X + ridge, X.T @ Y)
""",
)

# 21_positions
wrong(
    "21_positions",
    "once|add|repeat|last|lost|\\+=|overwrit",
    """
def plane_scores_backward(dS, cache):
    down, across, shape = cache
    dtable = np.zeros(shape, dS.dtype)
    dtable[down, across] += np.moveaxis(dS, 0, -1)
    return dtable
""",
)
wrong(
    "21_positions",
    "sign|exchanged|transpose|query|key",
    """
def plane_scores(table, grid):
    gh, gw = grid
    r, c = np.indices(grid).reshape(2, -1)
    down = r - r[:, None] + gh - 1
    across = c - c[:, None] + gw - 1
    return np.moveaxis(table[down, across], -1, 0), (down, across, table.shape)
""",
)

# 22_rotary
wrong(
    "22_rotary",
    "same|direction|back|opposite|sign|forward",
    """
def turn_patches(x, angles):
    T, K = len(angles), x.shape[-1]
    y = x.copy()
    a, b = x[:, :, -T:, : K // 2], x[:, :, -T:, K // 2 :]
    cos, sin = np.cos(angles), np.sin(angles)
    y[:, :, -T:, : K // 2] = a * cos - b * sin
    y[:, :, -T:, K // 2 :] = b * cos + a * sin
    return y, angles

def turn_patches_backward(dy, cache):
    return turn_patches(dy, cache)[0]
""",
)
wrong(
    "22_rotary",
    "by -a|sign|direction",
    """
def turn_patches(x, angles):
    T, K = len(angles), x.shape[-1]
    y = x.copy()
    a, b = x[:, :, -T:, : K // 2], x[:, :, -T:, K // 2 :]
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    y[:, :, -T:, : K // 2] = a * cos + b * sin
    y[:, :, -T:, K // 2 :] = b * cos - a * sin
    return y, angles
""",
)
wrong(
    "22_rotary",
    "4|2|exponent|frequenc",
    """
def place_angles(grid, K, theta=100.0):
    r, c = np.indices(grid).reshape(2, -1, 1)
    f = theta ** (-2 * np.arange(K // 4) / K)
    return np.concatenate([r * f, c * f], axis=1)
""",
)
wrong(
    "22_rotary",
    "columns come before|exchanged",
    """
def place_angles(grid, K, theta=100.0):
    r, c = np.indices(grid).reshape(2, -1, 1)
    f = theta ** (-4 * np.arange(K // 4) / K)
    return np.concatenate([c * f, r * f], axis=1)
""",
)
wrong(
    "22_rotary",
    "minus|sign|power",
    """
def place_angles(grid, K, theta=100.0):
    r, c = np.indices(grid).reshape(2, -1, 1)
    f = theta ** (4 * np.arange(K // 4) / K)
    return np.concatenate([r * f, c * f], axis=1)
""",
)

# 23_masked_patches
wrong(
    "23_masked_patches",
    "hidden|all|seen|in sight|mean",
    """
def painting_loss(painted, patches, seen, eps):
    centred = patches - patches.mean(axis=2, keepdims=True)
    wanted = centred / np.sqrt((centred * centred).mean(axis=2, keepdims=True) + eps)
    error = painted - wanted
    return (error * error).mean(), error * (2 / error.size)
""",
)
wrong(
    "23_masked_patches",
    "all|hidden|in sight|seen|every",
    """
def put_back_backward(dz, cache):
    rows = np.arange(len(dz))[:, None]
    return dz[rows, cache], dz.sum(axis=(0, 1)), dz.sum(axis=0)
""",
)
wrong(
    "23_masked_patches",
    "Positions|position",
    """
def put_back(y, mask_token, positions, seen):
    z = np.empty((len(y), *positions.shape), y.dtype)
    z[...] = mask_token + positions
    z[np.arange(len(y))[:, None], seen] = y
    return z, seen
""",
)

# 24_pictures_and_words
wrong(
    "24_pictures_and_words",
    "length|divi",
    """
def direction_backward(dy, cache):
    y, length = cache
    return dy - y * (dy * y).sum(axis=-1, keepdims=True)
""",
)
wrong(
    "24_pictures_and_words",
    "y|along|part|term",
    """
def direction_backward(dy, cache):
    y, length = cache
    return dy / length
""",
)
wrong(
    "24_pictures_and_words",
    "scale",
    """
def softmax_pairs(images, texts, log_scale):
    scale, right = np.exp(log_scale), np.arange(len(images))
    S = scale * (images @ texts.T)
    a, rows = cross_entropy(S, right)
    b, columns = cross_entropy(S.T, right)
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
    return (a + b) / 2, (dS @ texts, dS.T @ images, (dS * S).sum())
""",
)
wrong(
    "24_pictures_and_words",
    "transpos",
    """
def softmax_pairs(images, texts, log_scale):
    scale, right = np.exp(log_scale), np.arange(len(images))
    S = scale * (images @ texts.T)
    a, rows = cross_entropy(S, right)
    b, columns = cross_entropy(S.T, right)
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns)) / 2
    return (a + b) / 2, (scale * dS @ texts, scale * dS.T @ images, (dS * S).sum())
""",
)
wrong(
    "24_pictures_and_words",
    "texts|both|one|half|direction|images",
    """
def softmax_pairs(images, texts, log_scale):
    scale, right = np.exp(log_scale), np.arange(len(images))
    S = scale * (images @ texts.T)
    loss, rows = cross_entropy(S, right)
    dS = cross_entropy_backward(rows)
    return loss, (scale * dS @ texts, scale * dS.T @ images, (dS * S).sum())
""",
)
wrong(
    "24_pictures_and_words",
    "scale|S|log|cosine",
    """
def softmax_pairs(images, texts, log_scale):
    scale, right = np.exp(log_scale), np.arange(len(images))
    S = scale * (images @ texts.T)
    a, rows = cross_entropy(S, right)
    b, columns = cross_entropy(S.T, right)
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
    return (a + b) / 2, (scale * dS @ texts, scale * dS.T @ images, (dS * (images @ texts.T)).sum())
""",
)
wrong(
    "24_pictures_and_words",
    "B\\b|batch|rows|images|all pairs|mean",
    """
def sigmoid_pairs(images, texts, log_scale, bias, same):
    B, scale = len(images), np.exp(log_scale)
    cosines = scale * (images @ texts.T)
    S = cosines + bias
    loss = np.logaddexp(0, np.where(same, -S, S)).mean()
    dS = ((1 + np.tanh(S / 2)) / 2 - same) / B**2
    return loss, (scale * dS @ texts, scale * dS.T @ images, (dS * cosines).sum(), dS.sum())
""",
)
wrong(
    "24_pictures_and_words",
    "-S and S|sign",
    """
def sigmoid_pairs(images, texts, log_scale, bias, same):
    B, scale = len(images), np.exp(log_scale)
    cosines = scale * (images @ texts.T)
    S = cosines + bias
    loss = np.logaddexp(0, np.where(same, S, -S)).sum() / B
    dS = ((1 + np.tanh(S / 2)) / 2 - same) / B
    return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * cosines).sum(), dS.sum())
""",
)
wrong(
    "24_pictures_and_words",
    "bias",
    """
def sigmoid_pairs(images, texts, log_scale, bias, same):
    B, scale = len(images), np.exp(log_scale)
    S = scale * (images @ texts.T) + bias
    loss = np.logaddexp(0, np.where(same, -S, S)).sum() / B
    dS = ((1 + np.tanh(S / 2)) / 2 - same) / B
    return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum(), dS.sum())
""",
)
