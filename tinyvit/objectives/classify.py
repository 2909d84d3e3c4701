"""Learning from labels: softmax cross-entropy on the logits."""

from tinyvit import model, ops
from tinyvit.backend import Array
from tinyvit.model import Params, ViTConfig
from tinyvit.model.stage import Arrange, backward_through, forward_through


def loss_and_grads(
    config: ViTConfig,
    params: Params,
    images: Array,
    targets: Array,
    grads: Params,
    smoothing: float = 0.0,
    noise: ops.Noise | None = None,
    share: float = 1.0,
    arrange: Arrange | None = None,
) -> Array:
    """Mean cross-entropy of a batch, with its gradient added to grads; both are multiplied by share.

    images (B, H, W, 3) are normalised; targets are as in ops.cross_entropy. Returns the loss, an array
    without axes.
    """
    stages = model.stages(config, noise)
    if arrange:
        stages = arrange(stages)
    logits, caches = forward_through(stages, params, images)
    loss, loss_cache = ops.cross_entropy(logits, targets, smoothing)
    backward_through(stages, ops.cross_entropy_backward(loss_cache) * share, caches, grads)
    return loss * share
