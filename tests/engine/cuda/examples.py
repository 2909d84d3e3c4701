"""An example of each launch of the stem, the readout, the loss and the optimiser: a launch and its values."""

import numpy as np

from tests.engine.cuda.masks import make_mask
from tinyvit.data.augment import NAMES, operations_of
from tinyvit.engine.cuda.calls import attention, muon, optimizer, readout, stem
from tinyvit.engine.cuda.calls import augment as augmentation
from tinyvit.engine.cuda.calls import loss as losses_of
from tinyvit.engine.cuda.calls.noise import noise_keys
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
    product, x = Buffer("product", (B * (N - 2), D), BF16), Buffer("x", (B, N, D), BF16)
    shared = [Buffer("bias", (D,)), Buffer("others", (2, D)), Buffer("table", (N, D))]
    bias, others, table = shared
    launch = stem.add_tokens(product, bias, others, (table,), 2, None, None, mask, x)
    return launch, values_of(product, *shared) | {"keys": keys}


def add_shown_tokens():
    """Positions of rows and of columns; every patch is shown somewhere else."""
    product, x = Buffer("product", (B * 6, D), BF16), Buffer("x", (B, 6, D), BF16)
    shared = [Buffer("bias", (D,)), Buffer("rows", (2, D // 2)), Buffer("columns", (3, D // 2))]
    source = Buffer("source", (B, 6), "int32")
    launch = stem.add_tokens(product, shared[0], None, (*shared[1:],), 0, source, None, None, x)
    return launch, values_of(product, *shared) | {"source": np.tile([3, 5, 0, 1, 2, 4], (B, 1))}


def add_tokens_backward():
    mask, keys, _ = make_mask(B, N, D, 0.2, 0.0)
    dx, dpatches = Buffer("dx", (B, N, D), BF16), Buffer("dpatches", (B * (N - 1), D), BF16)
    source, partials = Buffer("source", (B, 4), "int32"), Buffer("partials", (stem.token_partials(B), 9 * D))
    shown = np.tile([0, 0, 2, -1], (B, 1))
    launch = stem.add_tokens_backward(dx, mask, source, dpatches, partials)
    return launch, values_of(dx) | {"keys": keys, "source": shown}


def mean_pool():
    y = Buffer("y", (B, 20, 264), BF16)
    return readout.mean_pool(y, Buffer("pooled", (B, 264), BF16)), values_of(y)


def mean_pool_backward():
    dpooled = Buffer("dpooled", (B, D))
    return readout.pool_backward(dpooled, None, Buffer("dy", (B, N, D))), values_of(dpooled)


def take_rows():
    y, taken = Buffer("y", (B, N, D), BF16), Buffer("taken", (B, 3, D), BF16)
    chosen = np.tile([2, 0, 3], (B, 1))
    launch = readout.take_rows(y, Buffer("chosen", chosen.shape, "int32"), taken, 1)
    return launch, values_of(y) | {"chosen": chosen}


def take_rows_backward():
    dtaken, dy, places = Buffer("dtaken", (B * 3, D)), Buffer("dy", (B, N, D)), np.tile([1, 3, 0, 2], (B, 1))
    launch = readout.pool_backward(dtaken, Buffer("places", places.shape, "int32"), dy, 1)
    return launch, values_of(dtaken) | {"places": places}


def draw_corruption():
    buffers = (Buffer(n, (B, w), "int32") for n, w in (("chosen", 20), ("places", 40), ("source", 40)))
    shows = Buffer("shows", (B, 40, 40), BF16)
    launch = stem.draw_corruption(Buffer("keys", (5, 2), "uint32"), 1, *buffers, shows)
    return launch, {"keys": noise_keys(1, 2, 3, 4)}


def colour_classes():
    patches, classes = Buffer("patches", (3, 192)), Buffer("classes", (48,), "int32")
    return losses_of.colour_classes(patches, classes, 4, 8), values_of(patches)


def squared_error():
    y, dy, bias = Buffer("y", (11, 300), BF16), Buffer("dy", (11, 300), BF16), Buffer("bias", (300,))
    truth, losses, partials = Buffer("truth", (11, 300)), Buffer("losses", (2,)), Buffer("partials", (2, 300))
    launch = losses_of.squared_error(y, bias, truth, 0.5, losses, dy, partials)
    return launch, values_of(y, bias, truth)


def rotate(back=False):
    qkv, bias = Buffer("qkv", (B, 30, 96), BF16), Buffer("bias", (96,))
    partials = Buffer("partials", (attention.rotary_partials(B * 30), 64))
    cos, sin = Buffer("cos", (28, 8)), Buffer("sin", (28, 8))
    launch = attention.rotate(qkv, (cos, sin), partials if back else bias, 2, False)
    return launch, values_of(qkv, bias, cos, sin)


def rotate_back():
    return rotate(back=True)


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
    launch = losses_of.cross_entropy(z, bias, labels, plan, None, 0.1, 0.5, losses, dz, partials)
    return launch, values_of(z, bias) | values


def loss_of_parts():
    z, dz, bias = Buffer("logits", (22, C), BF16), Buffer("dlogits", (22, C), BF16), Buffer("bias", (2 * C,))
    labels, losses, partials = (
        Buffer("labels", (22,), "int32"),
        Buffer("losses", (22,)),
        Buffer("partials", (2, 20)),
    )
    launch = losses_of.cross_entropy(z, bias, labels, None, None, 0.0, 0.5, losses, dz, partials)
    return launch, values_of(z, bias) | {"labels": generator().integers(0, C, 22)}


def add_losses():
    losses, total = Buffer("losses", (300,)), Buffer("loss", (1,))
    return losses_of.add_losses(losses, total, True), values_of(losses, total)


def add_bias():
    z, bias = Buffer("logits", (B, C), BF16), Buffer("bias", (C,))
    return losses_of.add_bias(z, bias, Buffer("out", (B, C))), values_of(z, bias)


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
        *(
            augment,
            make_patches,
            make_mixed_patches,
            patchify,
            add_tokens,
            add_shown_tokens,
            add_tokens_backward,
        ),
        *(mean_pool, mean_pool_backward, take_rows, take_rows_backward),
        *(draw_corruption, colour_classes, squared_error, rotate, rotate_back),
        *(momentum, normalise, polynomial, move),
        *(
            bias_tanh,
            bias_tanh_backward,
            loss,
            loss_of_parts,
            add_losses,
            add_bias,
            squared_sums,
            clip,
            update,
            to_bf16,
        ),
    )
}
