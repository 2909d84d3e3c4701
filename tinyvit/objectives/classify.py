"""Learning from labels: softmax cross-entropy on the logits."""

from tinyvit import model, ops
from tinyvit.backend import Array
from tinyvit.model import EngineBlocks, Params, ViTConfig


def loss_and_grads(
    config: ViTConfig,
    params: Params,
    images: Array,
    targets: Array,
    grads: Params,
    smoothing: float = 0.0,
    noise: ops.Noise | None = None,
    share: float = 1.0,
    blocks: EngineBlocks | None = None,
    frozen: int | None = None,
) -> Array:
    """Mean cross-entropy of a batch, with its gradient added to grads; both are multiplied by share.

    images (B, H, W, 3) are normalised; targets are as in ops.cross_entropy. Returns the loss, an array
    without axes.
    """
    logits, cache = model.forward(config, params, images, noise, blocks=blocks, frozen=frozen)
    loss, loss_cache = ops.cross_entropy(logits, targets, smoothing)
    model.backward(ops.cross_entropy_backward(loss_cache) * share, cache, grads)
    return loss * share
