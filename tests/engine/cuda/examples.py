"""An example of each launch of the stem, the readout, the loss and the optimiser: a launch and its values."""

import numpy as np

from tests.engine.cuda.masks import make_mask
from tinyvit.data.augmentation.operations import NAMES, operations_of
from tinyvit.engine.cuda.calls import augment as augmentation
from tinyvit.engine.cuda.calls import cross_entropy, muon, optimizer, readout, stem
from tinyvit.engine.cuda.launch import Buffer

B, N, D, C = 3, 5, 40, 10
BF16 = "bfloat16"


def generator():
    return np.random.default_rng(0)


def values_of(*buffers):
    rng = generator()
    return {buffer.name: rng.standard_normal(buffer.shape) for buffer in buffers}


def augment():
    """One image for each operation, none of them moved by its window, so that each of their bytes is read."""
    count = len(NAMES)
    operations = operations_of(np.stack([np.arange(count), np.roll(np.arange(count), 5)], axis=1), 0.6, 1)
    plan = np.zeros((4, count), int)
    plan[0], plan[3] = np.arange(count), np.arange(count) % 2
    tables = {"plan": plan, "operations": augmentation.operation_tables(operations, 8, 12)}
    images = Buffer("images", (count, 8, 12, 3), "uint8")
    augmented = Buffer("augmented", images.shape, "uint8")
    buffers = (Buffer(name, table.shape, "int32") for name, table in tables.items())
    launch = augmentation.augment(images, *buffers, augmented)
    return launch, tables | {"images": generator().integers(0, 256, images.shape)}


def make_patches():
    """All images, none of them moved or mixed, so that each of their bytes is read."""
    plan = np.zeros((4, B), int)
    plan[0], plan[3] = [2, 0, 1], [0, 1, 1]
    images = Buffer("images", (B, 8, 12, 3), "uint8")
    launch = stem.make_patches(
        images, Buffer("plan", plan.shape, "int32"), None, None, Buffer("patches", (B * 6, 48), BF16), 4
    )
    return launch, {"images": generator().integers(0, 256, images.shape), "plan": plan}


def make_mixed_patches():
    """Images that are blended with the next ones, as a whole, and of which nothing is erased."""
    plan, mixing, erasing = np.zeros((4, B + 1), int), np.zeros((6, B), np.int32), np.zeros((5, B + 1), int)
    plan[0], mixing[1], mixing[3] = np.arange(B + 1), 8, 12
    mixing[4] = np.full(B, 0.25, np.float32).view(np.int32)
    images = Buffer("images", (B + 1, 8, 12, 3), "uint8")
    values = {"plan": plan, "erasing": erasing, "mixing": mixing}
    tables = (Buffer(name, table.shape, "int32") for name, table in values.items())
    launch = stem.make_patches(images, *tables, Buffer("patches", (B * 6, 48), BF16), 4)
    return launch, values | {"images": generator().integers(0, 256, images.shape)}


def patchify():
    images = Buffer("images", (B, 8, 12, 3))
    return stem.patchify(images, Buffer("patches", (B * 6, 48)), 4), values_of(images)


def add_tokens():
    mask, keys, _ = make_mask(B, N, D, 0.2, 0.0)
    product, x = Buffer("product", (B * (N - 1), D), BF16), Buffer("x", (B, N, D), BF16)
    given = [product, *(Buffer(*each) for each in (("bias", (D,)), ("token", (D,)), ("position", (N, D))))]
    return stem.add_tokens(*given, mask, x), values_of(*given) | {"keys": keys}


def add_tokens_backward():
    mask, keys, _ = make_mask(B, N, D, 0.2, 0.0)
    dx, dproduct = Buffer("dx", (B, N, D), BF16), Buffer("dproduct", (B * (N - 1), D), BF16)
    partials = Buffer("partials", (stem.token_partials(B), N * D))
    return stem.add_tokens_backward(dx, mask, dproduct, partials), values_of(dx) | {"keys": keys}


def mean_pool():
    y = Buffer("y", (B, 20, 264), BF16)
    return readout.mean_pool(y, Buffer("pooled", (B, 264), BF16)), values_of(y)


def mean_pool_backward():
    dpooled = Buffer("dpooled", (B, D))
    return readout.mean_pool_backward(dpooled, Buffer("dy", (B, N, D))), values_of(dpooled)


def bias_tanh():
    h, bias = Buffer("h", (9, D), BF16), Buffer("bias", (D,))
    return readout.bias_tanh(h, bias, Buffer("y", (9, D), BF16)), values_of(h, bias)


def bias_tanh_backward():
    dy, h, bias = Buffer("dy", (300, 35)), Buffer("h", (300, 35)), Buffer("bias", (35,))
    partials = Buffer("partials", (readout.tanh_partials(300), 35))
    return readout.bias_tanh_backward(dy, h, bias, Buffer("dh", dy.shape), partials), values_of(dy, h, bias)


def loss():
    z, dz, bias = Buffer("logits", (11, C), BF16), Buffer("dlogits", (11, C), BF16), Buffer("bias", (C,))
    plan, partials = Buffer("plan", (4, 11), "int32"), Buffer("partials", (2, C))
    labels, losses = Buffer("labels", (20,), "int32"), Buffer("losses", (11,))
    plan_values = np.tile(generator().permutation(20)[:11], (4, 1))
    values = {"labels": generator().integers(0, C, 20), "plan": plan_values}
    launch = cross_entropy.cross_entropy(z, bias, labels, plan, None, 0.1, 0.5, losses, dz, partials)
    return launch, values_of(z, bias) | values


def add_losses():
    losses, total = Buffer("losses", (300,)), Buffer("loss", (1,))
    return cross_entropy.add_losses(losses, total, True), values_of(losses, total)


def add_bias():
    z, bias = Buffer("logits", (B, C), BF16), Buffer("bias", (C,))
    return cross_entropy.add_bias(z, bias, Buffer("out", (B, C))), values_of(z, bias)


def flat(count, *names):
    return [Buffer(name, (count,)) for name in names]


def squared_sums():
    (grads,) = flat(1303, "grads")
    return optimizer.squared_sums(grads, *flat(optimizer.square_partials(1303), "partials")), values_of(grads)


def clip():
    partials, controls = *flat(300, "partials"), *flat(8, "controls")
    return optimizer.clip(partials, controls, 1.0), {
        "partials": generator().random(300),
        "controls": np.zeros(8),
    }


def update():
    buffers, (controls,) = flat(1303, "params", "grads", "m", "v"), flat(8, "controls")
    launch = optimizer.update("adamw", *buffers, controls, 1001, (0.9, 0.999), 1e-8, 0.1)
    return launch, {buffer.name: generator().random(buffer.shape) for buffer in (*buffers, controls)}


def two_matrices():
    """A (3, 40) that lies as it is, and a tall one: flat buffers of 240."""
    places = np.array([[0, 40, 1], [120, 1, 3]], np.int32)
    return muon.Matrices(Buffer("places", places.shape, "int32"), 3, 40), places


def momentum():
    matrices, places = two_matrices()
    buffers, controls = flat(240, "params", "grads", "m", "directions"), *flat(8, "controls")
    launch = muon.momentum(matrices, *buffers, controls, Buffer("partials", (2, 1)), 0.9, 0.1)
    return launch, values_of(*buffers[:3], controls) | {"places": places}


def normalise():
    matrices, places = two_matrices()
    (directions,), partials = flat(240, "directions"), Buffer("partials", (2, 1))
    values = values_of(directions) | {"places": places, "partials": np.ones((2, 1))}
    return muon.normalise(matrices, directions, partials, Buffer("x", (2, 3, 40), BF16)), values


def polynomial():
    gram, square = Buffer("gram", (3, 20, 20), BF16), Buffer("square", (3, 20, 20), BF16)
    return muon.polynomial(gram, square), values_of(gram, square)


def move():
    matrices, places = two_matrices()
    x, (params, controls) = Buffer("x", (2, 3, 40), BF16), (*flat(240, "params"), *flat(8, "controls"))
    return muon.move(matrices, x, params, controls, 0.5), values_of(x, params, controls) | {"places": places}


def to_bf16():
    (x,) = flat(1303, "x")
    return optimizer.to_bf16(x, Buffer("y", x.shape, BF16)), values_of(x)


EXAMPLES = {
    example.__name__: example
    for example in (
        *(augment, make_patches, make_mixed_patches, patchify, add_tokens, add_tokens_backward),
        *(mean_pool, mean_pool_backward),
        *(momentum, normalise, polynomial, move),
        *(bias_tanh, bias_tanh_backward, loss, add_losses, add_bias, squared_sums, clip, update, to_bf16),
    )
}
