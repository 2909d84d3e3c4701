"""The parts of the loop of lesson 13: the model, the augmentation, and the functions of lesson 9."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from tinyvit import model as vit
from tinyvit.data import crop_and_flip, draw_augmentation
from tinyvit.model import Params, ViTConfig
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import Noise

_lesson_9 = import_module("lessons.09_optimisers.solution")
adamw_step = _lesson_9.adamw_step  # w, m, v = adamw_step(w, g, m, v, lr, step, weight_decay=...)
clip_norm = _lesson_9.clip_norm  # g, norm = clip_norm(g, largest)
learning_rate = _lesson_9.learning_rate  # lr = learning_rate(step, total, peak, warmup), all but lr in steps


class Model:
    """A ViT, as a training loop sees it.

    All parameters stand in one array, params.flat. The first params.decayed of them are the matrices', which
    weight decay is for. Images are normalised, (B, H, W, 3), in the dtype of the parameters. With noise,
    stochastic depth leaves out branches at random; without it, nothing is random.
    """

    def __init__(self, config: ViTConfig, params: Params):
        self.config, self.params = config, params

    def loss_and_grads(
        self, images: np.ndarray, labels: np.ndarray, grads: Params, noise: Noise | None = None
    ) -> float:
        """The mean loss of a batch. Its gradients are added to grads, which has the form of params."""
        return float(loss_and_grads(self.config, self.params, images, labels, grads, noise=noise))

    def logits(self, images: np.ndarray, noise: Noise | None = None) -> np.ndarray:
        """Logits (B, C) of a batch."""
        return vit.forward(self.config, self.params, images, noise)[0]


def augment(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Bytes (B, H, W, 3), each image shifted by up to four pixels either way, and half of them mirrored."""
    return crop_and_flip(images, np.arange(len(images)), *draw_augmentation(rng, len(images), 4))
