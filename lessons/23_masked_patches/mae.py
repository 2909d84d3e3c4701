"""A masked autoencoder (He et al. 2021) of tinyvit's blocks and your functions, on the built-in shapes.

    python -m lessons.23_masked_patches.mae

The encoder is the ViT that is to name shapes later, without its head. Only the patches in sight go through
it. The decoder is a small ViT: its "image" has 8 x 8 pixels, a token of the encoder each, and its head paints
a patch of 4 x 4 pixels for every one. Both are ordinary models of tinyvit, and so are their parameters.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lessons.mine import yours
from tinyvit import ops
from tinyvit.data import crop_and_flip, draw_augmentation, epoch_order, normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.model import Params, ViTConfig, block, block_backward, initialise, preset
from tinyvit.model.cost import multiply_adds
from tinyvit.optim import AdamW, clip_norm, learning_rate

PATCH = 4
ENCODER = preset(
    f"nano/{PATCH}", 32, 10, pool="mean"
)  # no class token: nothing would teach it what to collect
DECODER = ViTConfig(
    *(8, 1, 32, 64, 4, 1),  # image size, patch size, width, MLP width, heads, layers
    classes=PATCH * PATCH * 3,
    channels=ENCODER.width,
    pool="mean",
    predicts="patches",  # so that it has a mask token
)
IN_SIGHT = 16  # of 64 patches
EPS = 0.01  # in the normalisation of the patches: the noise of a plain one is not to be painted
BATCH, PEAK, DECAY, BETAS = 32, 2e-3, 0.05, (0.9, 0.95)


class Own(NamedTuple):
    """The functions of this lesson: yours where you have written them, else those of the solution."""

    take_seen_backward: Callable
    put_back: Callable
    put_back_backward: Callable
    painting_loss: Callable

    @classmethod
    def find(cls) -> "Own":
        """As they stand in exercise.py now."""
        return cls(*yours(*cls._fields))


class Painter(NamedTuple):
    """The parameters of a masked autoencoder, or their gradients."""

    encoder: Params
    decoder: Params


def fresh(seed: int = 0) -> Painter:
    """Initial parameters, as tinyvit has them, but for the positions and the mask token.

    Positions begin as sines and cosines, which say from the first step on what lies beside what, and are
    learned like everything else.
    """
    painter = Painter(initialise(ENCODER, seed), initialise(DECODER, seed + 1000))
    for part, config in zip(painter, (ENCODER, DECODER), strict=True):
        part["position"] = ops.positions_sincos(config.grid, config.width).astype(np.float32)
    token = np.random.default_rng(seed).normal(0, 0.02, DECODER.width)
    painter.decoder["mask_token"] = token.astype(np.float32)
    return painter


def draw_seen(rng: np.random.Generator, pictures: int, patches: int, count: int) -> np.ndarray:
    """The patches of each picture that are in sight, (B, count), in no order: the first of a random order."""
    return rng.random((pictures, patches)).argsort(axis=1)[:, :count]


def take_seen(x: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, tuple]:
    """The tokens in sight (B, n, D) of x (B, T, D), in the order of seen (B, n); and the cache (eq. 1)."""
    return x[np.arange(len(x))[:, None], seen], (seen, x.shape)


def paint(own: Own, painter: Painter, images: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, tuple]:
    """The patches that the decoder paints in every place, (B, T, P), normalised; and the cache."""
    p, q = painter
    patches, _ = ops.patchify(images, PATCH)  # (B, T, P)
    x, embedded = ops.linear(patches, *p.group("patch"))  # (B, T, D)
    x, taken = take_seen(x + p["position"], seen)  # (B, n, D)                               eq. 1
    x, encoder = through_blocks(ENCODER, p, x)

    y, narrowed = ops.linear(x, *q.group("patch"))  # (B, n, E)
    z, put = own.put_back(y, q["mask_token"], q["position"], seen)  # (B, T, E)              eq. 2
    z, decoder = through_blocks(DECODER, q, z)
    painted, head = ops.linear(z, *q.group("head"))  # (B, T, P)
    return painted, (embedded, taken, encoder, narrowed, put, decoder, head)


def paint_backward(own: Own, dpainted: np.ndarray, cache: tuple, grads: Painter) -> None:
    """Add the gradients of all parameters to grads."""
    embedded, taken, encoder, narrowed, put, decoder, head = cache
    g, h = grads
    dz, *dhead = ops.linear_backward(dpainted, head)
    h.add("head", *dhead)
    dz = through_blocks_backward(dz, decoder, h)
    dy, dmask_token, dposition = own.put_back_backward(dz, put)
    h.add("mask_token", dmask_token)
    h.add("position", dposition)
    dx, *dnarrow = ops.linear_backward(dy, narrowed)
    h.add("patch", *dnarrow)

    dx = through_blocks_backward(dx, encoder, g)
    dx = own.take_seen_backward(dx, taken)  # (B, T, D)
    g.add("position", dx.sum(axis=0))
    _, *dpatch = ops.linear_backward(dx, embedded)
    g.add("patch", *dpatch)


def through_blocks(config: ViTConfig, params: Params, x: np.ndarray) -> tuple[np.ndarray, tuple]:
    """Tokens (B, N, D) through all blocks and the LayerNorm after them, and the cache."""
    caches = []
    for i in range(config.layers):
        x, cache = block(params, f"blocks.{i}", x, config.heads, config.gelu, config.eps)
        caches.append(cache)
    x, norm = ops.layer_norm(x, *params.group("norm"), config.eps)
    return x, (caches, norm)


def through_blocks_backward(dx: np.ndarray, cache: tuple, grads: Params) -> np.ndarray:
    """Gradient of through_blocks: dx (B, N, D); adds the parameter gradients to grads."""
    caches, norm = cache
    dx, *dnorm = ops.layer_norm_backward(dx, norm)
    grads.add("norm", *dnorm)
    for i in reversed(range(len(caches))):
        dx = block_backward(dx, caches[i], grads, f"blocks.{i}")
    return dx


def loss_and_grads(own: Own, painter: Painter, images: np.ndarray, seen: np.ndarray, grads: Painter) -> float:
    """The loss of normalised images (B, 32, 32, 3), whose gradients are added to grads."""
    painted, cache = paint(own, painter, images, seen)
    patches, _ = ops.patchify(images, PATCH)
    by_pixel = (*painted.shape[:2], PATCH * PATCH, 3)
    loss, dpainted = own.painting_loss(painted.reshape(by_pixel), patches.reshape(by_pixel), seen, EPS)
    paint_backward(own, dpainted.reshape(painted.shape), cache, grads)
    return float(loss)


def pretrain(
    images: np.ndarray, epochs: int, seed: int = 0, report: Callable[[int, float], None] | None = None
) -> tuple[Painter, list[float]]:
    """Train on images (n, 32, 32, 3), bytes, without labels: the parameters, and the loss of each step."""
    own, painter, rng = Own.find(), fresh(seed), np.random.default_rng(seed)
    grads = Painter(*(part.zeros_like() for part in painter))
    optimizers = [AdamW(part, betas=BETAS, weight_decay=DECAY) for part in painter]
    per_epoch = len(images) // BATCH
    losses, steps = [], epochs * per_epoch
    for step in range(1, steps + 1):
        epoch, k = divmod(step - 1, per_epoch)
        if k == 0:
            order = epoch_order(seed, epoch, len(images))
        indices = order[k * BATCH : (k + 1) * BATCH]
        batch = normalise(crop_and_flip(images, indices, *draw_augmentation(rng, BATCH, 0)), np.float32)
        for part in grads:
            part.flat[...] = 0
        seen = draw_seen(rng, BATCH, ENCODER.patches, IN_SIGHT)
        losses.append(loss_and_grads(own, painter, batch, seen, grads))
        rate = learning_rate(step, steps, PEAK, steps // 20)
        for part, optimizer in zip(grads, optimizers, strict=True):
            clip_norm(part, 1.0)
            optimizer.step(part, rate, step)
        if report and k == per_epoch - 1:
            report(epoch + 1, float(np.mean(losses[-per_epoch:])))
    return painter, losses


def cost(in_sight: int = IN_SIGHT) -> int:
    """Multiply-adds of one forward pass on one picture of which so many patches are in sight.

    All patches are embedded; encoder.patches of a picture with as many patches as are in sight are encoded.
    """
    side = math.isqrt(in_sight)
    if side * side != in_sight:
        raise ValueError(f"{in_sight} patches make no square")
    encoder = multiply_adds(preset(f"nano/{PATCH}", side * PATCH, 10, pool="mean"))
    others = (ENCODER.patches - in_sight) * PATCH * PATCH * 3 * ENCODER.width  # embedded, and not encoded
    not_narrowed = (ENCODER.patches - in_sight) * ENCODER.width * DECODER.width
    return encoder + others + multiply_adds(DECODER) - not_narrowed


def main() -> None:
    """Pre-train for a minute or two, and save the encoder."""
    print(f"a picture costs {cost() / multiply_adds(ENCODER):.0%} of what a whole one costs the encoder")
    data = make_shapes(test=20)
    pretrain(data.train.images, 10, report=lambda epoch, loss: print(f"epoch {epoch:2}  loss {loss:.3f}"))


if __name__ == "__main__":
    main()
