"""What is learned: functions that carry out forward, loss and backward for one batch.

An objective is called as

    loss = objective(config, params, images, targets, grads, noise=..., share=...)

adds share times the gradient of its loss to grads, and returns share times the loss. share is this batch's
part of a larger one (its images divided by all images): so the losses and gradients of the parts add up to
those of the whole. Engines are given an objective and know nothing else of it.
"""

from collections.abc import Callable

from tinyvit.backend import Array
from tinyvit.objectives.classify import loss_and_grads

Objective = Callable[..., Array]

__all__ = ["Objective", "loss_and_grads"]
