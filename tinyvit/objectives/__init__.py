"""Training objectives: functions that carry out the forward pass, loss and backward pass for one batch.

An objective, such as classify.loss_and_grads or masked_patches.loss_and_grads, is called as

    loss = objective(config, params, images, targets, grads, noise=..., share=..., arrange=...)

It adds share times the gradient of its loss to grads, and returns share times the loss. share is the fraction
of a larger batch that these images make up, so that the losses and gradients of the parts add up to those of
the whole. With `arrange`, it carries out arrange(model.stages(...)) instead of the model's own stages: see
model.stage. Engines are given an objective and know nothing else about it, except for the CUDA engine,
which has kernels for both.
"""

from collections.abc import Callable

from tinyvit.backend import Array
from tinyvit.objectives import masked_patches
from tinyvit.objectives.classify import loss_and_grads

Objective = Callable[..., Array]

__all__ = ["Objective", "loss_and_grads", "masked_patches"]
